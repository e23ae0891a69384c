package zombie;

import java.util.Objects;

/** Who somebody is: the name of the entry (or Zombie, or DeadBody), and a number that nobody else has in the match. */
public class PlayerId {
    private final String name;
    private final int number;

    public PlayerId(String name, int number) {
        this.name = name;
        this.number = number;
    }

    public String getName() {
        return name;
    }

    public int getNumber() {
        return number;
    }

    @Override
    public boolean equals(Object other) {
        if (!(other instanceof PlayerId)) return false;
        PlayerId id = (PlayerId) other;
        return number == id.number && Objects.equals(name, id.name);
    }

    @Override
    public int hashCode() {
        return 31 * Objects.hashCode(name) + number;
    }

    @Override
    public String toString() {
        return name + "#" + number;
    }
}
