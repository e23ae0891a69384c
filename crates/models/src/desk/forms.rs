//! Finds the form in which a model answers: from its table, or by trials.

use super::{About, Answers, Desk, Failure, lock, request, unkept};
use crate::{AskError, Finish, Form, Message, Model, Question, Reply, Role};
use serde_json::{Value, value::RawValue};
use std::sync::Arc;

/// The result of trying a form of answers.
#[derive(Debug, Clone)]
pub struct Trial {
    /// The question.
    pub question: Question,
    /// The reply, or why the endpoint refused.
    pub outcome: Result<Reply, AskError>,
    /// Whether the form works.
    pub works: bool,
    /// Whether the endpoint failed (status 500 and up), so that the form may work another time.
    pub may_pass: bool,
}

impl Desk {
    /// The form in which a model answers: the one in its table, or the first that works for the schema. The book keeps it for this
    /// run and, unless a better one may work another time, for all others.
    pub fn form(&self, model: &Model, schema: &Arc<RawValue>) -> Result<Form, AskError> {
        self.find_or_try(model, schema).map_err(|error| self.in_the_way(error))
    }

    fn find_or_try(&self, model: &Model, schema: &Arc<RawValue>) -> Result<Form, AskError> {
        if let Some(form) = model.answers {
            return Ok(form);
        }
        let question = request(model, &trial_question(schema, Form::Schema))?.hash;
        // Others wait here for the first who tries, and find what works.
        let mut forms = lock(&self.0.forms);
        if let Some(found) = forms.get(&question) {
            return found.clone();
        }
        let generation = self.generation(model).map_err(unkept)?;
        let is_offline = self.0.answers == Answers::Only;
        let kept = self.0.book.form(&question, generation, is_offline).map_err(unkept)?;
        let (form, is_sure) = match kept {
            Some(form) => (form, false),
            None if is_offline => {
                let why = format!("the book does not say in which form {} answers", model.name);
                return Err(AskError::NotKept(why));
            }
            None => {
                let found = self.find_form(model, schema);
                if let Err(error @ (AskError::Endpoint(_) | AskError::Stuck { .. })) = &found {
                    forms.insert(question, Err(error.clone()));
                }
                let (form, is_sure) = found?;
                if !is_sure {
                    let note =
                        format!("the endpoint failed in other forms of answers; {form} is used for this run");
                    self.note(model, About::Form, &note);
                }
                (form, is_sure)
            }
        };
        if !is_offline {
            self.0.book.keep_form(&question, generation, form, is_sure).map_err(unkept)?;
        }
        forms.insert(question, Ok(form));
        Ok(form)
    }

    /// Tries a form of answers.
    pub fn try_form(&self, model: &Model, schema: &Arc<RawValue>, form: Form) -> Result<Trial, AskError> {
        // What endpoints say to requests that they do not understand; some say that it is their own fault.
        const NOT_UNDERSTOOD: [u16; 7] = [400, 404, 405, 415, 422, 500, 501];
        let question = trial_question(schema, form);
        match self.outcome(model, &question) {
            Ok(reply) => {
                let works = fits(&reply, schema, form);
                Ok(Trial { works, outcome: Ok(reply), question, may_pass: false })
            }
            Err(Failure { error, status: Some(status) }) if NOT_UNDERSTOOD.contains(&status) => {
                Ok(Trial { works: false, outcome: Err(error), question, may_pass: status >= 500 })
            }
            Err(failure) => Err(self.in_the_way(failure.error)),
        }
    }

    /// Finds the first form that works, and says whether all better ones surely fail.
    fn find_form(&self, model: &Model, schema: &Arc<RawValue>) -> Result<(Form, bool), AskError> {
        let mut is_sure = true;
        for form in Form::ALL {
            let trial = self.try_form(model, schema, form)?;
            match trial.outcome {
                // Even plain text is refused: it is not the form that is wrong.
                Err(why) if form == Form::Line => return Err(why),
                _ if trial.works => return Ok((form, is_sure)),
                _ => is_sure &= !trial.may_pass,
            }
        }
        Ok((Form::Line, is_sure))
    }
}

/// Makes a question whose answer shows whether the endpoint enforces a form: a model without it would answer in prose.
fn trial_question(schema: &Arc<RawValue>, form: Form) -> Question {
    let text = "Hello! Who are you? Answer in a few words.".to_owned();
    Question { messages: vec![Message { role: Role::User, text }], schema: schema.clone(), form, salt: 0 }
}

/// Whether an answer has the requested form.
fn fits(reply: &Reply, schema: &RawValue, form: Form) -> bool {
    if form == Form::Line {
        return true;
    }
    // A model may ramble inside a string until it is cut off; but prose does not begin like this.
    if reply.finish == Finish::Length {
        return reply.text.trim_start().starts_with('{');
    }
    let Ok(Value::Object(answer)) = serde_json::from_str(&reply.text) else { return false };
    let schema: Value = serde_json::from_str(schema.get()).unwrap_or_default();
    let required = schema["required"].as_array().map_or(&[][..], Vec::as_slice);
    required.iter().filter_map(Value::as_str).all(|name| answer.contains_key(name))
}
