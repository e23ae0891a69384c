#!/usr/bin/env ruby
# {{name}}, a bot for {{game}}.
#
# {{hint}}
#
# The arena writes one JSON object a line to standard input and reads one a line from standard output.
# Run it alone to try it by hand, or let the arena check it: necrodome check-bot {{game}} bot.rb

require "json"

DIRECTIONS = %w[north northeast east southeast south southwest west northwest stay].freeze

# Returns an action. This is the place for your own ideas: `view` is all that you know.
def choose(view, legal, random)
  return legal.sample(random: random) if legal&.any? # every legal action, where they are few

  # Last Bullet: an order for each copy
  return { orders: view["copies"].map { |copy| order(copy, random) } } if view.key?("copies")

  # Infection with very many players or viruses
  return { type: "answer" } if view["question"]["type"] == "answer"

  { type: "contact", with: view["partners"].sample(random: random) }
end

# Last Bullet: what one copy does. Here it walks in a random direction.
def order(copy, random)
  { type: "move", copy: copy["number"], direction: DIRECTIONS.sample(random: random) }
end

def say(message)
  puts JSON.generate(message)
  $stdout.flush
end

random = Random.new
$stdin.each_line do |line|
  message = JSON.parse(line)
  case message["type"]
  when "hello"
    say({ type: "ready", protocol: 1 })
  when "start"
    random = Random.new(message["seed"]) # the same match, the same choices
  when "decide"
    # You can add a `reason`: a text that is shown beside the action.
    say({ id: message["id"], action: choose(message["view"], message["legal"], random) })
  end # "end", and whatever later versions may add, needs no answer
end
