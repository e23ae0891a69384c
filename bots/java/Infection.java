// Infection: knows whom to trust.
//
// The idea: whoever met us in a turn after which we had more antibodies was human then. Such friends are met
// again, without a precaution; strangers only with one. A zombie meets everybody, old friends first: they
// come without protection. Run it with: java Infection.java

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;

public class Infection {
    static final Random random = new Random();

    // What we remember of this match.
    static final Set<Integer> friends = new HashSet<>();
    static final Set<Integer> metThisTurn = new HashSet<>();
    static int lastTurn;
    static int lastStock;

    static void forget() {
        friends.clear();
        metThisTurn.clear();
        lastTurn = 0;
        lastStock = 0;
    }

    /** A new report tells how the contacts of the last turn went. */
    static void learn(Map<String, Object> view) {
        int turn = number(object(view.get("public")).get("turns"));
        int stock = number(object(view.get("told")).get("stock"));
        if (turn > lastTurn) {
            if (stock > lastStock) friends.addAll(metThisTurn);
            else friends.removeAll(metThisTurn);
            metThisTurn.clear();
        }
        lastTurn = turn;
        lastStock = stock;
    }

    static String choose(Map<String, Object> view) {
        learn(view);
        boolean human = object(view.get("told")).get("identity").equals("human");
        Map<String, Object> question = object(view.get("question"));
        if (question.get("type").equals("answer")) {
            int other = number(question.get("to"));
            metThisTurn.add(other);
            String action = "{\"type\": \"answer\"" + commitment(view, human, other) + "}";
            return answer(action, "met by " + name(other));
        }

        // A human has met enough after one contact; a zombie never has.
        Integer partner = human && (boolean) view.get("has_met") ? null : pick(list(view.get("partners")));
        if (partner == null) {
            // With antibodies to spare and strangers met, the antidote may be worth it.
            boolean antidote = human && lastStock >= 2 && !friends.containsAll(metThisTurn);
            return answer("{\"type\": \"end\", \"antidote\": " + antidote + "}", friends.size() + " friends");
        }
        metThisTurn.add(partner);
        String contact = "{\"type\": \"contact\", \"with\": " + partner;
        return answer(contact + commitment(view, human, partner) + "}", "to " + name(partner));
    }

    /** A friend if one is left, somebody else if not, null if there is nobody. */
    static Integer pick(List<Object> partners) {
        List<Integer> all = new ArrayList<>();
        for (Object partner : partners) all.add(number(partner));
        List<Integer> known = new ArrayList<>(all);
        known.retainAll(friends);
        List<Integer> from = known.isEmpty() ? all : known;
        return from.isEmpty() ? null : from.get(random.nextInt(from.size()));
    }

    static String commitment(Map<String, Object> view, boolean human, int other) {
        if (human) {
            boolean careful = lastStock >= 1 && !friends.contains(other) && lastTurn > 0;
            return careful ? ", \"commit\": {\"type\": \"precaution\"}" : "";
        }
        int viruses = number(object(view.get("told")).get("stock")) - number(view.get("applied"));
        return viruses > 0 ? ", \"commit\": {\"type\": \"virus\", \"count\": " + (viruses + 1) / 2 + "}" : "";
    }

    static String name(int seat) {
        return (friends.contains(seat) ? "friend " : "stranger ") + seat;
    }

    static String answer(String action, String reason) {
        return "\"action\": " + action + ", \"reason\": \"" + reason + "\"";
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
                forget();
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
