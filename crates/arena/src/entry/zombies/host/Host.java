package zombie;

import static zombie.Constants.CENTRE_OF_VISION;
import static zombie.Constants.VISION_WIDTH;

import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

/** Plays matches for a bot of the contest: the arena's lines come in, and the bot is asked for each of its copies. */
public final class Host {
    private static final byte[][] MESSAGE = Json.fields("type", "game", "seed", "id", "view");
    private static final byte[][] VIEW = Json.fields("clock", "side", "names", "me", "copies");
    private static final byte[][] COPY = Json.fields("number", "x", "y", "bullets", "seen");
    /** The number of nobody. */
    private static final long NOBODY = 0xFFFF_FFFFL;

    private final Bot bot;
    private final Answer answer = new Answer();
    private final Seen seen = new Seen();
    private Player player;
    private boolean isFresh;
    /** In which order copies are asked. */
    private Random order = new Random(0);

    private String[] names = {};
    private byte[] namesRead = {};
    private PlayerContext[] copies = new PlayerContext[64];
    private int count;

    private Host(Bot bot) {
        this.bot = bot;
    }

    /** Words: the folder of classes or the script, and the name of the class or of the player that a script registers. */
    public static void main(String[] words) throws IOException {
        InputStream in = new FileInputStream(FileDescriptor.in);
        OutputStream out = new FileOutputStream(FileDescriptor.out);
        // Standard output is for answers: what a bot prints is part of its log.
        PrintStream log = new PrintStream(new Log(new FileOutputStream(FileDescriptor.err)), true);
        System.setOut(log);
        System.setErr(log);
        System.setIn(InputStream.nullInputStream());
        int status = 0;
        try {
            new Host(new Bot(words[0], words[1])).play(in, out);
        } catch (Throwable why) {
            // What was wrong comes first.
            while (why instanceof InvocationTargetException && why.getCause() != null) why = why.getCause();
            why.printStackTrace();
            status = 1;
        }
        // Threads that a bot has started do not hold up the end.
        Runtime.getRuntime().halt(status);
    }

    private void play(InputStream in, OutputStream out) throws Throwable {
        byte[] buffer = new byte[64 << 10];
        int start = 0;
        int end = 0;
        int looked = 0;
        while (true) {
            while (looked < end && buffer[looked] != '\n') looked++;
            if (looked < end) {
                hear(Arrays.copyOfRange(buffer, start, looked + 1), out);
                start = ++looked;
                continue;
            }
            if (start > 0) {
                System.arraycopy(buffer, start, buffer, 0, end - start);
                end -= start;
                looked -= start;
                start = 0;
            }
            if (end == buffer.length) buffer = Arrays.copyOf(buffer, 2 * end);
            int read = in.read(buffer, end, buffer.length - end);
            if (read < 0) return;
            end += read;
        }
    }

    /** Heeds a line. Messages and fields that are not known are passed over. */
    private void hear(byte[] line, OutputStream out) throws Throwable {
        Json json = new Json(line);
        String type = "";
        int[] at = new int[MESSAGE.length];
        json.open('{');
        while (json.more()) {
            int field = json.field(MESSAGE);
            if (field >= 0) at[field] = json.place();
            // Of a long line the view is the last that matters, and it is read below.
            if (field == 4 && at[3] > 0 && type.equals("decide")) break;
            if (field == 0) {
                type = json.string();
            } else {
                json.skip();
            }
        }
        switch (type) {
            case "hello":
                json.goTo(at[1]);
                String game = json.string();
                if (!game.equals("last-bullet")) throw new IllegalStateException("this bot plays last-bullet, not " + game);
                load();
                out.write("{\"type\":\"ready\",\"protocol\":1}\n".getBytes(StandardCharsets.UTF_8));
                break;
            case "start":
                if (!isFresh) load();
                isFresh = false;
                json.goTo(at[2]);
                Random seeds = new Random(json.number());
                order = new Random(seeds.nextLong());
                Move.seed(seeds.nextLong());
                break;
            case "decide":
                json.goTo(at[3]);
                long id = json.number();
                json.goTo(at[4]);
                look(json);
                decide(id);
                answer.writeTo(out);
                break;
            default:
        }
    }

    private void load() throws Throwable {
        player = bot.load();
        isFresh = true;
        namesRead = new byte[0];
    }

    /** Reads a view: what each copy knows. */
    private void look(Json json) {
        int[] at = new int[VIEW.length];
        int known = 0;
        json.open('{');
        while (json.more()) {
            int field = json.field(VIEW);
            if (field >= 0) {
                at[field] = json.place();
                known++;
            }
            // The copies come last as a rule, and are read below.
            if (known == VIEW.length && field == 4) break;
            json.skip();
        }
        int clock = numberAt(json, at[0]);
        int side = numberAt(json, at[1]);
        int me = numberAt(json, at[3]);
        json.goTo(at[2]);
        readNames(json, me);
        json.goTo(at[4]);
        readCopies(json, clock, side, me);
    }

    private static int numberAt(Json json, int place) {
        json.goTo(place);
        return (int) json.number();
    }

    /** Names seldom change within a match. */
    private void readNames(Json json, int me) {
        int from = json.place();
        if (namesRead.length > 0 && json.startsWith(namesRead)) return;
        List<String> all = json.strings();
        namesRead = json.since(from);
        // The very constants: some bots compare names by identity.
        all.set(0, Dead.ZOMBIENAME);
        all.set(1, Dead.DEADBODYNAME);
        // Copies carry the name of their class, whatever the entry is called. Who has that name as an entry gets the other.
        int other = all.indexOf(bot.name());
        if (other >= 0) all.set(other, all.get(me));
        all.set(me, bot.name());
        names = all.toArray(names);
    }

    private void readCopies(Json json, int clock, int side, int me) {
        seen.clear();
        count = 0;
        json.open('[');
        while (json.more()) {
            int number = 0;
            int x = 0;
            int y = 0;
            int bullets = 0;
            PlayerId[][] field = new PlayerId[VISION_WIDTH][];
            for (int column = 0; column < VISION_WIDTH; column++) field[column] = new PlayerId[VISION_WIDTH];
            json.open('{');
            while (json.more()) {
                switch (json.field(COPY)) {
                    case 0: number = (int) json.number(); break;
                    case 1: x = (int) json.number(); break;
                    case 2: y = (int) json.number(); break;
                    case 3: bullets = (int) json.number(); break;
                    case 4: readField(json, field); break;
                    default: json.skip();
                }
            }
            field[CENTRE_OF_VISION][CENTRE_OF_VISION] = seen.getOrAdd(names[me], number);
            if (count == copies.length) copies = Arrays.copyOf(copies, 2 * count);
            PlayerId own = new PlayerId(names[me], number);
            copies[count++] = new PlayerContext(own, bullets, clock, field, x, y, side);
        }
    }

    private void readField(Json json, PlayerId[][] field) {
        json.open('[');
        while (json.more()) {
            json.open('[');
            json.more();
            int x = (int) json.number();
            json.more();
            int y = (int) json.number();
            json.more();
            int who = (int) json.number();
            json.more();
            int number = (int) json.number();
            while (json.more()) json.skip();
            field[CENTRE_OF_VISION + x][CENTRE_OF_VISION + y] = seen.getOrAdd(names[who], number);
        }
    }

    /** Asks for all copies, in random order. */
    private void decide(long id) {
        answer.begin(id);
        for (int left = count; left > 0; left--) {
            int next = order.nextInt(left);
            PlayerContext copy = copies[next];
            copies[next] = copies[left - 1];
            copies[left - 1] = null;
            int number = copy.getId().getNumber();
            try {
                Action action = player.doTurn(copy);
                if (action instanceof Move) {
                    answer.move(number, (Move) action);
                } else if (action instanceof Shoot) {
                    answer.shoot(number, target(((Shoot) action).getTarget()));
                } else {
                    Log.tell(new IllegalStateException("expected a Move or a Shoot, got " + action));
                }
            } catch (Throwable why) {
                Log.tell(why);
            }
        }
        answer.end();
    }

    /** The number of whom a shot is for: nobody's, if there is nobody of that name and number. */
    private long target(PlayerId target) {
        boolean isThere = target != null && target.equals(seen.get(target.getNumber()));
        return isThere ? Integer.toUnsignedLong(target.getNumber()) : NOBODY;
    }
}
