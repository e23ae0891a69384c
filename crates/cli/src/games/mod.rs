//! The parts that only some games have at the terminal: a story, controls, advice on typed positions. Each game has a folder.

mod infection;
mod last_bullet;
mod tokyo;
mod zombie_dice;

use necrodome_rules::{
    own_part,
    zombie_dice::{Race, Solo, Table},
};

/// Returns the part of type `T`, which names its game, or `None` if that game has none. This is the list of all such parts.
pub fn own<T: 'static>() -> Option<T> {
    own_part![
        infection::controls(),
        last_bullet::controls::controls(),
        last_bullet::tell::teller(),
        tokyo::advise::advisor(),
        tokyo::controls::controls(),
        tokyo::tell::teller(),
        zombie_dice::advise::advisor::<Solo>(),
        zombie_dice::advise::advisor::<Race>(),
        zombie_dice::advise::advisor::<Table>(),
        zombie_dice::controls::controls::<Solo>(),
        zombie_dice::controls::controls::<Race>(),
        zombie_dice::controls::controls::<Table>(),
    ]
}
