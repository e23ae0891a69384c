package zombie;

import static zombie.Constants.CENTRE_OF_VISION;
import static zombie.Constants.VISION_WIDTH;

/** Those who are no entry's: corpses and zombies. The arena moves them; bots use their names, and may ask how a zombie would walk. */
public enum Dead implements Player {
    DEADBODY {
        @Override
        public Action doTurn(PlayerContext context) {
            return Move.STAY;
        }
    },
    ZOMBIE {
        @Override
        public Action doTurn(PlayerContext context) {
            // The nearest; of several the westmost, then the northmost.
            int nearest = VISION_WIDTH;
            Move step = null;
            for (int x = -CENTRE_OF_VISION; x <= CENTRE_OF_VISION; x++) {
                for (int y = -CENTRE_OF_VISION; y <= CENTRE_OF_VISION; y++) {
                    PlayerId who = context.lookAround(x, y);
                    int distance = Math.max(Math.abs(x), Math.abs(y));
                    if (who != null && distance < nearest && !PlayerRegistry.isDeadOrUndead(who.getName())) {
                        nearest = distance;
                        step = Move.inDirection(x, y);
                    }
                }
            }
            return step == null ? Move.randomMove() : step;
        }
    };

    public static final String DEADBODYNAME = "DeadBody";
    public static final String ZOMBIENAME = "Zombie";
}
