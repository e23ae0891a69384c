# Stays where it is, and shoots the first zombie within three squares. For Jython.
from zombie import Move, Player, PlayerRegistry, Shoot


class Sentry(Player):
    def doTurn(self, context):
        if context.getBullets():
            for x in range(-3, 4):
                for y in range(-3, 4):
                    who = context.lookAround(x, y)
                    if who and who.getName() == "Zombie":
                        return Shoot(who)
        return Move.STAY


PlayerRegistry.registerPlayer("Sentry", Sentry())
