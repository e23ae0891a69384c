package zombie;

import java.util.Random;

/** A step to a neighbouring square, or none. Each row of constants runs from east to west, as it did in the contest's program. */
public enum Move implements Action {
    NORTHEAST(1, -1), NORTH(0, -1), NORTHWEST(-1, -1),
    EAST(1, 0), STAY(0, 0), WEST(-1, 0),
    SOUTHEAST(1, 1), SOUTH(0, 1), SOUTHWEST(-1, 1);

    private static final Move[] ALL = values();
    private static Random random = new Random();

    /** Squares to the east. */
    public final int x;
    /** Squares to the south. */
    public final int y;

    Move(int x, int y) {
        this.x = x;
        this.y = y;
    }

    /** Makes random moves follow from a seed. */
    static synchronized void seed(long seed) {
        random = new Random(seed);
    }

    public static synchronized Move randomMove() {
        return ALL[random.nextInt(ALL.length)];
    }

    /** The step that leads toward an offset. */
    public static Move inDirection(int x, int y) {
        return ALL[3 * (Integer.signum(y) + 1) + 1 - Integer.signum(x)];
    }
}
