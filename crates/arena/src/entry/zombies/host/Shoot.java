package zombie;

import java.util.Objects;

/** A shot. At nobody, or at somebody out of range, it spends the bullet all the same. */
public class Shoot implements Action {
    private final PlayerId target;

    public Shoot(PlayerId target) {
        this.target = target;
    }

    public PlayerId getTarget() {
        return target;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Shoot && Objects.equals(target, ((Shoot) other).target);
    }

    @Override
    public int hashCode() {
        return Objects.hashCode(target);
    }

    @Override
    public String toString() {
        return "Shoot " + target;
    }
}
