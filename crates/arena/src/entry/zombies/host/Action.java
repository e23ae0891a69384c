package zombie;

/** What a player does in a turn: a {@link Move} or a {@link Shoot}. */
public interface Action {}
