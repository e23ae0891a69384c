//! What the book says to a question, for those who count before they ask.

use super::{Answers, Desk, request, unkept};
use crate::{AskError, Model, Question, Reply};

/// A question, as far as the book knows it.
#[derive(Debug, Clone)]
pub struct Look {
    /// The hash of the question: the same question has the same.
    pub question: [u8; 32],
    /// The answer that would be used without a call; none if a call is needed.
    pub reply: Option<Reply>,
}

impl Desk {
    /// Looks for the answer to a question. Asks nobody.
    pub fn look(&self, model: &Model, question: &Question) -> Result<Look, AskError> {
        let request = request(model, question)?;
        let generation = self.generation().map_err(unkept)?;
        let reply = self.0.book.find(&request, generation).map_err(unkept)?;
        Ok(Look { question: request.hash, reply: reply.map(|reply| self.reuse(model, reply)) })
    }

    /// Where answers come from.
    pub fn answers(&self) -> Answers {
        self.0.answers
    }
}
