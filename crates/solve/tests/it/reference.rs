//! The values that are known from elsewhere.

use necrodome_rules::{
    tokyo::Tokyo,
    zombie_dice::{Race, Solo, SoloRules},
};
use necrodome_solve::{Solution, Solvable};

#[test]
fn the_reference_points_are_met() {
    let solo = Solo::solve(&SoloRules::default(), 1).unwrap();
    assert!((Solution::<Solo>::start(&*solo) - 2.258550969970581).abs() < 1e-15);
    let race = Race::solve(&Default::default(), 2).unwrap();
    assert!((Solution::<Race>::start(&*race) - 0.565961337740).abs() < 1e-12);
    let tokyo = Tokyo::solve(&Default::default(), 2).unwrap();
    assert!((tokyo.start() - 0.549538503357).abs() < 1e-12);
}
