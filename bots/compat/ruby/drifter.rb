# Drifts with a current that turns every ten turns. For JRuby.
require 'java'

class Drifter
  include Java::Zombie::Player

  def doTurn(context)
    moves = Java::Zombie::Move
    [moves::NORTH, moves::EAST, moves::SOUTH, moves::WEST][context.getGameClock / 10 % 4]
  end
end

Java::Zombie::PlayerRegistry.registerPlayer('Drifter', Drifter.new)
