package zombie;

import static zombie.Constants.CENTRE_OF_VISION;
import static zombie.Constants.SHOOT_RANGE;

import java.util.Collections;
import java.util.HashSet;
import java.util.Set;

/** What one copy knows when it is asked. */
public class PlayerContext {
    private final PlayerId id;
    private final int bullets;
    private final int gameClock;
    private final PlayerId[][] playField;
    private final int x;
    private final int y;
    private final int boardSize;

    public PlayerContext(
            PlayerId id, int bullets, int gameClock, PlayerId[][] playField, int x, int y, int boardSize) {
        this.id = id;
        this.bullets = bullets;
        this.gameClock = gameClock;
        this.playField = playField;
        this.x = x;
        this.y = y;
        this.boardSize = boardSize;
    }

    public PlayerId getId() {
        return id;
    }

    public int getBullets() {
        return bullets;
    }

    public int getGameClock() {
        return gameClock;
    }

    /** Who stands where: [x][y] from west to east and from north to south, the copy itself in the middle; null where nobody is. */
    public PlayerId[][] getPlayField() {
        return playField;
    }

    public int getX() {
        return x;
    }

    public int getY() {
        return y;
    }

    /** The side of the board. */
    public int getBoardSize() {
        return boardSize;
    }

    /** Who stands so far to the east and to the south. */
    public PlayerId lookAround(int xOffset, int yOffset) {
        return playField[CENTRE_OF_VISION + xOffset][CENTRE_OF_VISION + yOffset];
    }

    /** All within range, the copy itself too. */
    public Set<PlayerId> shootablePlayers() {
        Set<PlayerId> inRange = new HashSet<>();
        for (int column = CENTRE_OF_VISION - SHOOT_RANGE; column <= CENTRE_OF_VISION + SHOOT_RANGE; column++) {
            for (int row = CENTRE_OF_VISION - SHOOT_RANGE; row <= CENTRE_OF_VISION + SHOOT_RANGE; row++) {
                if (playField[column][row] != null) inRange.add(playField[column][row]);
            }
        }
        return Collections.unmodifiableSet(inRange);
    }
}
