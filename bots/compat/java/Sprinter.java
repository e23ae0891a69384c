package player;

import zombie.*;

/** Runs to the free square that is farthest from all zombies in sight. */
public class Sprinter implements Player {
    @Override
    public Action doTurn(PlayerContext context) {
        PlayerId[][] field = context.getPlayField();
        Move best = Move.STAY;
        int bestDistance = -1;
        for (Move move : Move.values()) {
            int x = Constants.CENTRE_OF_VISION + move.x;
            int y = Constants.CENTRE_OF_VISION + move.y;
            if (field[x][y] != null && move != Move.STAY) continue;
            int distance = distanceToZombie(field, x, y);
            if (distance > bestDistance) {
                best = move;
                bestDistance = distance;
            }
        }
        return best;
    }

    private static int distanceToZombie(PlayerId[][] field, int fromX, int fromY) {
        int nearest = Constants.VISION_WIDTH;
        for (int x = 0; x < Constants.VISION_WIDTH; x++) {
            for (int y = 0; y < Constants.VISION_WIDTH; y++) {
                if (field[x][y] != null && field[x][y].getName().equals("Zombie")) {
                    nearest = Math.min(nearest, Math.max(Math.abs(x - fromX), Math.abs(y - fromY)));
                }
            }
        }
        return nearest;
    }
}
