package zombie;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Locale;

/** The orders for all copies, as a line of JSON. */
final class Answer {
    private static final byte[] BEGIN = bytes("{\"id\":");
    private static final byte[] ORDERS = bytes(",\"action\":{\"orders\":[");
    private static final byte[] MOVE = bytes("{\"type\":\"move\",\"copy\":");
    private static final byte[] SHOOT = bytes("{\"type\":\"shoot\",\"copy\":");
    private static final byte[] TARGET = bytes(",\"target\":");
    private static final byte[][] DIRECTIONS = new byte[Move.values().length][];

    static {
        for (Move move : Move.values()) {
            DIRECTIONS[move.ordinal()] = bytes(",\"direction\":\"" + move.name().toLowerCase(Locale.ROOT) + "\"},");
        }
    }

    private byte[] line = new byte[4096];
    private int length;

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private void add(byte[] bytes) {
        if (length + bytes.length > line.length) line = Arrays.copyOf(line, 2 * line.length);
        System.arraycopy(bytes, 0, line, length, bytes.length);
        length += bytes.length;
    }

    private void add(long number) {
        byte[] digits = new byte[20];
        int from = digits.length;
        do {
            digits[--from] = (byte) ('0' + number % 10);
            number /= 10;
        } while (number > 0);
        add(from == 0 ? digits : Arrays.copyOfRange(digits, from, digits.length));
    }

    void begin(long id) {
        length = 0;
        add(BEGIN);
        add(id);
        add(ORDERS);
    }

    /** A copy without an order stays. */
    void move(int copy, Move move) {
        if (move == Move.STAY) return;
        add(MOVE);
        add(Integer.toUnsignedLong(copy));
        add(DIRECTIONS[move.ordinal()]);
    }

    void shoot(int copy, long target) {
        add(SHOOT);
        add(Integer.toUnsignedLong(copy));
        add(TARGET);
        add(target);
        add(bytes("},"));
    }

    void end() {
        if (line[length - 1] == ',') length--;
        add(bytes("]}}\n"));
    }

    void writeTo(OutputStream out) throws IOException {
        out.write(line, 0, length);
    }
}
