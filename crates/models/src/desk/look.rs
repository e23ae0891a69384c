//! Looks into the book without asking, for callers who estimate costs first.

use super::{Answers, Desk, request, unkept};
use crate::{AskError, Model, Question, Reply};

/// What the book knows of a question.
#[derive(Debug, Clone)]
pub struct Look {
    /// The hash of the question: equal questions have equal hashes.
    pub question: [u8; 32],
    /// The answer that would be used without a call, or `None` if a call is needed.
    pub reply: Option<Reply>,
}

impl Desk {
    /// Looks for the answer to a question. Makes no call.
    pub fn look(&self, model: &Model, question: &Question) -> Result<Look, AskError> {
        let request = request(model, question)?;
        let generation = self.generation(model).map_err(unkept)?;
        let reply = self.0.book.find(&request, generation).map_err(unkept)?;
        Ok(Look { question: request.hash, reply: reply.map(|reply| self.reuse(model, reply)) })
    }

    /// The source of answers.
    pub fn answers(&self) -> Answers {
        self.0.answers
    }
}
