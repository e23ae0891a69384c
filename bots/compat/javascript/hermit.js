// Shoots zombies within reach, and walks away from everybody else. For Rhino.
var zombie = Packages.zombie

function Hermit() {
    this.doTurn = function (context) {
        var all = context.shootablePlayers().iterator()
        while (context.getBullets() > 0 && all.hasNext()) {
            var who = all.next()
            if (who.getName() == "Zombie") return new zombie.Shoot(who)
        }
        var field = context.getPlayField(), x = 0, y = 0
        for (var i = 4; i < 13; i++) {
            for (var j = 4; j < 13; j++) {
                if (field[i][j]) {
                    x -= i - 8
                    y -= j - 8
                }
            }
        }
        return zombie.Move.inDirection(x, y)
    }
}

zombie.PlayerRegistry.registerPlayer("Hermit", new zombie.Player(new Hermit()))
