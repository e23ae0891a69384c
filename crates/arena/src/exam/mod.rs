//! Exams: decisions instead of matches. Every entry answers the same questions, positions of a solved game. The regret of an answer is exact:
//! it is what the best option would have been worth more. There are no dice, so the only noise is the choice of questions.
//!
//! [`Paper::set`] draws the questions, [`sit`] puts them to the entries, [`ExamReport::new`] evaluates the answers.

mod estimate;
mod paper;
mod report;
mod sit;

pub use estimate::{NoEstimate, estimate};
pub use paper::{Band, LEAST_POSITIONS, MOST_POSITIONS, Paper, PaperError, Question};
pub use report::{AnswerRow, BandReport, ExamEntry, ExamPair, ExamReport, KindRegret, Latency, Worst};
pub use sit::{Answered, Candidate, Sat, sit};
