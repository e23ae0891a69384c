package player;

import java.util.HashSet;
import java.util.Set;
import zombie.*;

/** Shoots the zombie that is nearest, and lets no two copies shoot at the same one in a turn. */
public class Marksman implements Player {
    // All copies share them, so that they can share the work.
    private static final Set<PlayerId> aimedAt = new HashSet<>();
    private static int turn = -1;

    @Override
    public Action doTurn(PlayerContext context) {
        if (context.getGameClock() != turn) {
            turn = context.getGameClock();
            aimedAt.clear();
        }
        if (context.getBullets() > 0) {
            for (int distance = 1; distance <= Constants.SHOOT_RANGE; distance++) {
                PlayerId zombie = zombieAt(context, distance);
                if (zombie != null) return new Shoot(zombie);
            }
        }
        return Move.STAY;
    }

    private static PlayerId zombieAt(PlayerContext context, int distance) {
        for (int x = -distance; x <= distance; x++) {
            for (int y = -distance; y <= distance; y++) {
                if (Math.max(Math.abs(x), Math.abs(y)) != distance) continue;
                PlayerId who = context.lookAround(x, y);
                if (who != null && who.getName().equals("Zombie") && aimedAt.add(who)) return who;
            }
        }
        return null;
    }
}
