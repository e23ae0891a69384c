//! Statistics of tournaments. The unit of sampling is the block (one seed, all seat rotations), not the game.
