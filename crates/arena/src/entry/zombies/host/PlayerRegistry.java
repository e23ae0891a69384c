package zombie;

import java.util.HashMap;
import java.util.Map;

/** The players by name. Scripts register theirs here; a host runs one entry, so that nobody else's are in it. */
public class PlayerRegistry {
    private static final Map<String, Player> PLAYERS = new HashMap<>();

    static {
        clear();
    }

    private PlayerRegistry() {}

    public static synchronized void registerPlayer(String name, Player player) {
        PLAYERS.put(name, player);
    }

    public static synchronized boolean isDeadOrUndead(String name) {
        return PLAYERS.get(name) instanceof Dead;
    }

    /** Forgets all but the dead. */
    static synchronized void clear() {
        PLAYERS.clear();
        PLAYERS.put(Dead.DEADBODYNAME, Dead.DEADBODY);
        PLAYERS.put(Dead.ZOMBIENAME, Dead.ZOMBIE);
    }

    /** The living players. */
    static synchronized Map<String, Player> living() {
        Map<String, Player> living = new HashMap<>(PLAYERS);
        living.values().removeIf(player -> player instanceof Dead);
        return living;
    }
}
