// {{name}}, a bot for {{game}}.
//
// {{hint}}
//
// The arena writes one JSON object a line to standard input and reads one a line from standard output.
// Print notes of your own to standard error: System.err.println("thinking")
// Run it with `java Bot.java` (Java 17 or later), or let the arena check it:
// necrodome check-bot {{game}} ./Bot.java

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

public class Bot {
{{only last-bullet}}
    static final List<String> DIRECTIONS = List.of(
        "north", "northeast", "east", "southeast", "south", "southwest", "west", "northwest", "stay");
{{end}}
    static final Random random = new Random();

    /**
     * Returns an action: an object of JSON, as a map. This is the place for your own ideas: `view` is all
     * that you know, `legal` lists every legal action where they are few, and is null where they are many.
     */
    static Object choose(Map<String, Object> view, List<Object> legal) {
{{only last-bullet}}
        // There are too many legal actions to list: give an order to each copy.
        List<Object> orders = new ArrayList<>();
        for (Object copy : list(view.get("copies"))) orders.add(order(object(copy)));
        return Map.of("orders", orders);
    }

    /** What one copy does. Here it walks in a random direction. */
    static Object order(Map<String, Object> copy) {
        return Map.of("type", "move", "copy", copy.get("number"), "direction", pick(DIRECTIONS));
    }
{{end}}
{{only infection}}
        if (legal != null) return pick(legal);
        if (object(view.get("question")).get("type").equals("answer")) return Map.of("type", "answer");
        return Map.of("type", "contact", "with", pick(list(view.get("partners"))));
    }
{{end}}
{{not last-bullet infection}}
        return pick(legal);
    }
{{end}}

    static <T> T pick(List<T> list) {
        return list.get(random.nextInt(list.size()));
    }

    public static void main(String[] args) throws IOException {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            Map<String, Object> message = object(Json.read(line));
            switch ((String) message.get("type")) {
                case "hello":
                    say(Map.of("type", "ready", "protocol", 1));
                    break;
                case "start":
                    random.setSeed((Long) message.get("seed")); // the same match, the same choices
                    break;
                case "decide":
                    // You can add a "reason": a text that is shown beside the action.
                    Object action = choose(object(message.get("view")), list(message.get("legal")));
                    say(Map.of("id", message.get("id"), "action", action));
                    break;
                default: // "end", and whatever later versions may add, needs no answer
            }
        }
    }

    static void say(Object message) {
        System.out.println(Json.write(message));
        System.out.flush();
    }

    @SuppressWarnings("unchecked")
    static Map<String, Object> object(Object value) {
        return (Map<String, Object>) value;
    }

    @SuppressWarnings("unchecked")
    static List<Object> list(Object value) {
        return (List<Object>) value;
    }

    /** JSON, read and written: objects are maps, arrays lists, numbers longs or doubles. */
    static final class Json {
        private final String text;
        private int at;

        private Json(String text) {
            this.text = text;
        }

        static Object read(String text) {
            return new Json(text).value();
        }

        static String write(Object value) {
            if (value instanceof Map<?, ?> map) {
                List<String> fields = new ArrayList<>();
                for (Map.Entry<?, ?> field : map.entrySet()) {
                    fields.add(write(field.getKey()) + ":" + write(field.getValue()));
                }
                return "{" + String.join(",", fields) + "}";
            }
            if (value instanceof List<?> list) {
                List<String> items = new ArrayList<>();
                for (Object item : list) items.add(write(item));
                return "[" + String.join(",", items) + "]";
            }
            if (value instanceof String text) {
                StringBuilder quoted = new StringBuilder("\"");
                for (char c : text.toCharArray()) {
                    if (c == '"' || c == '\\') quoted.append('\\').append(c);
                    else if (c >= ' ' && c <= '~') quoted.append(c);
                    else quoted.append("\\u").append(Integer.toHexString(0x10000 + c).substring(1));
                }
                return quoted.append('"').toString();
            }
            return String.valueOf(value);
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
