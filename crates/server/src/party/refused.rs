//! The reasons why a room refuses a request. Each follows from what the requester can know.

/// Why an input was refused. The room did not change.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)]
pub enum Refused {
    #[error("the room is closed")]
    Closed,
    #[error("the game has started")]
    Started,
    #[error("the game has not started")]
    NotStarted,
    #[error("the game is over")]
    Over,
    #[error("the game is not over")]
    NotOver,
    #[error("the first input opens the room, and no other does")]
    Open,
    #[error("there is no such player")]
    NoSuchPlayer,
    #[error("{0}")]
    Name(String),
    #[error("there are as many players as the game takes, or too many have come and gone")]
    Full,
    #[error("a game needs at least two players, and there are {players}")]
    TooFew { players: usize },
    #[error("expected fewer zombies than players, got {zombies} zombies and {players} players")]
    Zombies { zombies: usize, players: usize },
    #[error("there is no such proposal or contact any more")]
    NoSuchContact,
    #[error("it is accepted already: nobody can back out")]
    Accepted,
    #[error("it is not accepted yet")]
    NotAccepted,
    #[error("expected somebody else, got yourself")]
    Itself,
    #[error("{name} has ended the turn")]
    Ended { name: String },
    #[error("you have met {name} in this turn already")]
    Again { name: String },
    #[error("{name} is in a contact just now")]
    Busy { name: String },
    #[error("there is an open proposal to {name} already")]
    HasProposed { name: String },
    #[error("{name} wants to meet you: accept it instead")]
    AcceptInstead { name: String },
    #[error("too many proposals in one turn")]
    TooManyProposals,
    #[error("you have committed already")]
    Committed,
    #[error("expected at least 1 virus, got 0")]
    NoVirus,
    #[error("too many antidotes in one turn")]
    TooManyAntidotes,
    #[error("the turn cannot be ended before the first contact while somebody can still be asked")]
    NoContactYet,
    #[error("expected the end of turn {now}, got that of turn {turn}")]
    OtherTurn { turn: u32, now: u32 },
    #[error("two players at least must stay: let a bot play, or close the room")]
    TooFewLeft,
    #[error("there is no such bot: {0}")]
    Bot(String),
    #[error("this seat is played by somebody already")]
    Taken,
    #[error("this link was used already, or is not for this room")]
    Ticket,
    #[error("there is no contact in this turn to undo")]
    NothingToUndo,
    #[error("the last contact is another one now")]
    OtherContact,
    #[error("what was done since depends on this contact")]
    Depends,
}
