package zombie;

import java.io.IOException;
import java.io.OutputStream;
import java.util.HashSet;
import java.util.Set;

/** Standard error for all that bots print. The arena keeps 64 KiB of it, so that nothing beyond is written. */
final class Log extends OutputStream {
    private static final int KEPT = 64 << 10;
    private final OutputStream out;
    private int left = KEPT;

    Log(OutputStream out) {
        this.out = out;
    }

    @Override
    public synchronized void write(int octet) throws IOException {
        write(new byte[] {(byte) octet}, 0, 1);
    }

    @Override
    public synchronized void write(byte[] bytes, int from, int length) throws IOException {
        int kept = Math.min(length, left);
        left -= kept;
        if (kept > 0) out.write(bytes, from, kept);
    }

    private static final Set<String> TOLD = new HashSet<>();

    /** Tells why a copy stays, once for each place that it comes from. */
    static void tell(Throwable why) {
        String place = why.getClass() + " " + place(why.getStackTrace());
        if (TOLD.add(place)) {
            System.err.print("This copy stays, and so do others for the same reason: ");
            why.printStackTrace();
        }
    }

    /** Where it comes from: of a script the line, not the place in its engine. */
    private static Object place(StackTraceElement[] trace) {
        for (StackTraceElement element : trace) {
            String file = element.getFileName();
            if (file != null && !file.endsWith(".java")) return element;
        }
        return trace.length == 0 ? "" : trace[0];
    }
}
