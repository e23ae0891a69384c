package zombie;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Reads a line of JSON from its start to its end, and builds nothing but what it is asked for. */
final class Json {
    private final byte[] text;
    private int at;

    /** A value, as text. Behind it comes a line feed, which no value goes on after. */
    Json(byte[] text) {
        this.text = text;
    }

    /** The place that is read next. */
    int place() {
        return at;
    }

    void goTo(int place) {
        at = place;
    }

    /** Whether these bytes come next. */
    boolean startsWith(byte[] bytes) {
        return Arrays.equals(text, at, Math.min(text.length, at + bytes.length), bytes, 0, bytes.length);
    }

    /** All that was read since a place. */
    byte[] since(int place) {
        return Arrays.copyOfRange(text, place, at);
    }

    private byte peek() {
        while (text[at] == ' ' || text[at] == '\t' || text[at] == '\r') at++;
        return text[at];
    }

    private void expect(char wanted) {
        if (peek() != wanted) throw new IllegalStateException("expected " + wanted + " at byte " + at);
        at++;
    }

    /** Enters an object or a list. */
    void open(char bracket) {
        expect(bracket);
    }

    /** Whether the object or list goes on; leaves it at its end. */
    boolean more() {
        byte next = peek();
        if (next == ',') {
            at++;
            peek();
            return true;
        }
        if (next != ']' && next != '}') return true;
        at++;
        return false;
    }

    /** Reads the name of a field, and gives its place among those that are known, or -1. */
    int field(byte[][] known) {
        peek();
        int place = known.length - 1;
        while (place >= 0 && !is(known[place])) place--;
        if (place < 0) {
            skipString();
        } else {
            at += known[place].length;
        }
        expect(':');
        return place;
    }

    private boolean is(byte[] quoted) {
        for (int i = 0; i < quoted.length; i++) {
            // A shorter text has a line feed in this place.
            if (text[at + i] != quoted[i]) return false;
        }
        return true;
    }

    /** Names of fields, as {@link #field} wants them. */
    static byte[][] fields(String... names) {
        byte[][] quoted = new byte[names.length][];
        for (int i = 0; i < names.length; i++) quoted[i] = ('"' + names[i] + '"').getBytes(StandardCharsets.UTF_8);
        return quoted;
    }

    /** A whole number; of one that is too large, its last 64 bits. */
    long number() {
        boolean negative = peek() == '-';
        if (negative) at++;
        int start = at;
        long number = 0;
        for (int digit = text[at] - '0'; digit >= 0 && digit <= 9; digit = text[++at] - '0') number = 10 * number + digit;
        if (at == start) throw new IllegalStateException("expected a number at byte " + at);
        return negative ? -number : number;
    }

    String string() {
        peek();
        int start = at + 1;
        skipString();
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        for (int i = start; i < at - 1; i++) {
            if (text[i] != '\\') {
                bytes.write(text[i]);
                continue;
            }
            String plain = "\"\\/bfnrtu";
            int escape = plain.indexOf(text[++i]);
            if (escape < plain.length() - 1) {
                bytes.write("\"\\/\b\f\n\r\t".charAt(escape));
                continue;
            }
            // Letters beyond the first 65,536 come in two halves, of which only both together are text.
            StringBuilder letters = new StringBuilder();
            for (i--; text[i] == '\\' && text[i + 1] == 'u'; i += 6) {
                letters.append((char) Integer.parseInt(new String(text, i + 2, 4, StandardCharsets.US_ASCII), 16));
            }
            i--;
            bytes.writeBytes(letters.toString().getBytes(StandardCharsets.UTF_8));
        }
        return bytes.toString(StandardCharsets.UTF_8);
    }

    List<String> strings() {
        List<String> all = new ArrayList<>();
        open('[');
        while (more()) all.add(string());
        return all;
    }

    private void skipString() {
        expect('"');
        for (; text[at] != '"'; at++) {
            if (text[at] == '\\') at++;
        }
        at++;
    }

    /** Passes over a value of any kind. */
    void skip() {
        byte first = peek();
        if (first == '"') {
            skipString();
        } else if (first == '{' || first == '[') {
            at++;
            while (more()) {
                skip();
                if (first == '{') {
                    expect(':');
                    skip();
                }
            }
        } else {
            int start = at;
            while (text[at] > ' ' && text[at] != ',' && text[at] != ']' && text[at] != '}') at++;
            if (at == start) throw new IllegalStateException("expected a value at byte " + at);
        }
    }
}
