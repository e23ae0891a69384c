package player;

import zombie.*;

/** Takes the title of the contest at its word, and all three bullets. */
public class Stoic implements Player {
    @Override
    public Action doTurn(PlayerContext context) {
        return new Shoot(context.getId());
    }
}
