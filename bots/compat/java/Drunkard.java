package player;

import zombie.*;

/** Staggers about. */
public class Drunkard implements Player {
    @Override
    public Action doTurn(PlayerContext context) {
        return Move.randomMove();
    }
}
