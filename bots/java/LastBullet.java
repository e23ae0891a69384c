// Last Bullet: keeps its copies apart and its bullets for the last moment.
//
// The idea: copies that stand close together die together, so each steps away from zombies first and from
// everybody else second. A zombie is shot when it is near enough to bite next turn, and never by two copies.
// Run it with: java LastBullet.java

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

public class LastBullet {
    static final int ZOMBIE = 0; // the place in `names`
    static final String[] DIRECTIONS = {
        "stay", "north", "northeast", "east", "southeast", "south", "southwest", "west", "northwest"
    };
    static final int[] DX = {0, 0, 1, 1, 1, 0, -1, -1, -1};
    static final int[] DY = {0, -1, -1, 0, 1, 1, 1, 0, -1};

    /** Somebody whom a copy sees: how far east and south, and who. */
    record Seen(int dx, int dy, int who, int number) {
        int distance(int x, int y) {
            return Math.max(Math.abs(dx - x), Math.abs(dy - y));
        }
    }

    static List<Seen> seenBy(Map<String, Object> copy) {
        List<Seen> result = new ArrayList<>();
        for (Object entry : list(copy.get("seen"))) {
            int[] seen = list(entry).stream().mapToInt(LastBullet::number).toArray();
            result.add(new Seen(seen[0], seen[1], seen[2], seen[3]));
        }
        return result;
    }

    static String order(Map<String, Object> copy, Set<Integer> targets) {
        List<Seen> seen = seenBy(copy);
        if (number(copy.get("bullets")) > 0) {
            for (Seen other : seen) {
                if (other.who == ZOMBIE && other.distance(0, 0) <= 2 && targets.add(other.number)) {
                    return order("shoot", copy, "\"target\": " + other.number);
                }
            }
        }
        int best = 0;
        double bestScore = Double.NEGATIVE_INFINITY;
        for (int step = 0; step < DIRECTIONS.length; step++) {
            double score = score(seen, DX[step], DY[step], targets);
            if (score > bestScore) {
                best = step;
                bestScore = score;
            }
        }
        return order("move", copy, "\"direction\": \"" + DIRECTIONS[best] + "\"");
    }

    static String order(String type, Map<String, Object> copy, String rest) {
        return "{\"type\": \"" + type + "\", \"copy\": " + copy.get("number") + ", " + rest + "}";
    }

    /** How good it is to be on this square next. */
    static double score(List<Seen> seen, int x, int y, Set<Integer> targets) {
        int nearest = 9; // one more than anybody can see
        double crowd = 0;
        for (Seen other : seen) {
            int distance = other.distance(x, y);
            if (distance == 0) return Double.NEGATIVE_INFINITY; // taken
            if (other.who == ZOMBIE && !targets.contains(other.number)) nearest = Math.min(nearest, distance);
            crowd += 1.0 / distance;
        }
        return 10 * Math.min(nearest, 6) - crowd;
    }

    static String choose(Map<String, Object> view) {
        Set<Integer> targets = new HashSet<>(); // zombies that somebody shoots in this turn
        List<String> orders = new ArrayList<>();
        for (Object copy : list(view.get("copies"))) orders.add(order(object(copy), targets));
        return "\"action\": {\"orders\": " + orders + "}";
    }

    public static void main(String[] args) throws IOException {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            Map<String, Object> message = object(Json.read(line));
            String type = (String) message.get("type");
            if (type.equals("hello")) {
                System.out.println("{\"type\": \"ready\", \"protocol\": 1, \"deterministic\": true}");
            } else if (type.equals("decide")) {
                String answer = choose(object(message.get("view")));
                System.out.println("{\"id\": " + message.get("id") + ", " + answer + "}");
            } // everything else needs no answer
            System.out.flush();
        }
    }

    // Short ways through the JSON.

    @SuppressWarnings("unchecked")
    static Map<String, Object> object(Object value) {
        return (Map<String, Object>) value;
    }

    @SuppressWarnings("unchecked")
    static List<Object> list(Object value) {
        return (List<Object>) value;
    }

    static int number(Object value) {
        return ((Long) value).intValue();
    }

    /** Reads one JSON value: objects become maps, arrays lists, numbers longs or doubles. */
    static final class Json {
        private final String text;
        private int at;

        private Json(String text) {
            this.text = text;
        }

        static Object read(String text) {
            return new Json(text).value();
        }

        private char next() {
            while (text.charAt(at) <= ' ') at++;
            return text.charAt(at);
        }

        /** Skips the character if it is next. */
        private boolean skip(char wanted) {
            boolean found = next() == wanted;
            if (found) at++;
            return found;
        }

        private Object value() {
            switch (next()) {
                case '{': return object();
                case '[': return array();
                case '"': return string();
                default: return word();
            }
        }

        private Map<String, Object> object() {
            Map<String, Object> map = new LinkedHashMap<>();
            at++;
            while (!skip('}')) {
                next();
                String key = string();
                skip(':');
                map.put(key, value());
                skip(',');
            }
            return map;
        }

        private List<Object> array() {
            List<Object> list = new ArrayList<>();
            at++;
            while (!skip(']')) {
                list.add(value());
                skip(',');
            }
            return list;
        }

        private String string() {
            StringBuilder result = new StringBuilder();
            for (at++; text.charAt(at) != '"'; at++) {
                char c = text.charAt(at);
                if (c == '\\') {
                    c = text.charAt(++at);
                    if (c == 'u') {
                        c = (char) Integer.parseInt(text.substring(at + 1, at + 5), 16);
                        at += 4;
                    } else if ("nrtbf".indexOf(c) >= 0) {
                        c = "\n\r\t\b\f".charAt("nrtbf".indexOf(c));
                    }
                }
                result.append(c);
            }
            at++;
            return result.toString();
        }

        private Object word() {
            int start = at;
            while (at < text.length() && ",]} \t".indexOf(text.charAt(at)) < 0) at++;
            String word = text.substring(start, at);
            switch (word) {
                case "null": return null;
                case "true": return true;
                case "false": return false;
                default:
                    // Without a regular expression: its classes would make the start longer.
                    boolean whole = word.length() <= 18;
                    for (char c : word.toCharArray()) whole &= c == '-' || c >= '0' && c <= '9';
                    if (whole) return Long.parseLong(word);
                    return Double.parseDouble(word);
            }
        }
    }
}
