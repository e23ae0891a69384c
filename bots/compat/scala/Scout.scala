package player

import zombie._

/** Walks south until it sees a zombie, and then the other way. */
class Scout extends Player {
  override def doTurn(context: PlayerContext): Action = {
    val sees = context.getPlayField.flatten.exists(who => who != null && who.getName == "Zombie")
    if (sees) Move.NORTH else Move.SOUTH
  }
}
