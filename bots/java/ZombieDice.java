// Zombie Dice (table, solo and race): tries the next roll a thousand times before it decides.
//
// The idea: no formulas. Draw and roll at random from the dice that are left, many times, and see what it
// brings on average and how often it is the end. Run it with: java ZombieDice.java

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

public class ZombieDice {
    static final int TRIES = 1000;
    static final Random random = new Random();

    /** One more roll: what it adds to the brains, or takes if it is the end of the turn. */
    static int tryRoll(Map<String, Object> turn) {
        List<String> cup = new ArrayList<>();
        object(turn.get("cup")).forEach((colour, count) -> {
            for (int i = 0; i < number(count); i++) cup.add(colour);
        });
        List<String> hand = new ArrayList<>();
        if (turn.get("hand") != null) {
            for (Object die : list(turn.get("hand"))) {
                if (object(die).get("face").equals("footsteps")) hand.add((String) object(die).get("colour"));
            }
        }
        while (hand.size() < 3) hand.add(cup.remove(random.nextInt(cup.size())));

        int brains = 0;
        int shotguns = number(turn.get("shotguns"));
        for (String colour : hand) {
            int brainSides = colour.equals("green") ? 3 : colour.equals("yellow") ? 2 : 1;
            int side = random.nextInt(6);
            if (side < brainSides) brains++;
            else if (side >= brainSides + 2) shotguns++; // two sides are always footsteps
        }
        return shotguns >= 3 ? -number(turn.get("brains")) : brains;
    }

    /** Whether the others force us to go on: it is the last round, and we are behind. */
    static boolean mustGo(Map<String, Object> view, int brains) {
        if (!view.containsKey("scores")) return false;
        int seat = number(view.get("seat"));
        int leader = 0;
        int mine = 0;
        List<Object> scores = list(view.get("scores"));
        for (int i = 0; i < scores.size(); i++) {
            if (i == seat) mine = number(scores.get(i));
            else leader = Math.max(leader, number(scores.get(i)));
        }
        return leader >= 13 && mine + brains < leader;
    }

    static String choose(Map<String, Object> view) {
        Map<String, Object> turn = object(view.get("turn"));
        int brains = number(turn.get("brains"));
        if (mustGo(view, brains)) return answer("go", "the last round, and I am behind");
        if (view.containsKey("score") && number(view.get("score")) + brains >= 13) {
            return answer("stop", "that wins the race");
        }
        if (brains == 0) return answer("go", "nothing to lose");
        int sum = 0;
        for (int i = 0; i < TRIES; i++) sum += tryRoll(turn);
        return answer(sum > 0 ? "go" : "stop", "a roll brings " + (double) sum / TRIES + " brains");
    }

    static String answer(String action, String reason) {
        return "\"action\": {\"type\": \"" + action + "\"}, \"reason\": \"" + reason + "\"";
    }

    public static void main(String[] args) throws IOException {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            Map<String, Object> message = object(Json.read(line));
            String type = (String) message.get("type");
            if (type.equals("hello")) {
                System.out.println("{\"type\": \"ready\", \"protocol\": 1}");
            } else if (type.equals("start")) {
                random.setSeed((Long) message.get("seed"));
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
