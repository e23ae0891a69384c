package player;

import zombie.*;

/** Keeps close to its own kind, and shoots whatever comes near that is not. */
public class Penguin implements Player {
    @Override
    public Action doTurn(PlayerContext context) {
        if (context.getBullets() > 0) {
            for (PlayerId who : context.shootablePlayers()) {
                if (PlayerRegistry.isDeadOrUndead(who.getName()) && !who.getName().equals("DeadBody")) {
                    return new Shoot(who);
                }
            }
        }
        String kind = context.getId().getName();
        int sumX = 0;
        int sumY = 0;
        for (int x = -Constants.VISION_RANGE; x <= Constants.VISION_RANGE; x++) {
            for (int y = -Constants.VISION_RANGE; y <= Constants.VISION_RANGE; y++) {
                PlayerId who = context.lookAround(x, y);
                if (who != null && who.getName().equals(kind)) {
                    sumX += x;
                    sumY += y;
                }
            }
        }
        return Move.inDirection(sumX, sumY);
    }
}
