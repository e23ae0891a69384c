package zombie;

/** A bot of the contest. One object decides for all copies of its entry. */
public interface Player {
    Action doTurn(PlayerContext context);
}
