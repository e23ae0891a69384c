package player;

import zombie.*;

/** Never moves: zombies and bullets find those who walk first. */
public class Statue implements Player {
    @Override
    public Action doTurn(PlayerContext context) {
        return Move.STAY;
    }
}
