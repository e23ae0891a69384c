#!/usr/bin/env ruby
# {{name}}, a bot for {{game}}.
#
# {{hint}}
#
# The arena writes one JSON object a line to standard input and reads one a line from standard output.
# Print notes of your own to standard error: warn "thinking"
# Run it alone to try it by hand, or let the arena check it: necrodome check-bot {{game}} bot.rb

require "json"

{{only last-bullet}}
DIRECTIONS = %w[north northeast east southeast south southwest west northwest stay].freeze

{{end}}
# Returns an action. This is the place for your own ideas: `view` is all that you know.
def choose(view, legal, random)
{{only last-bullet}}
  # There are too many legal actions to list: give an order to each copy.
  { orders: view["copies"].map { |copy| order(copy, random) } }
end

# What one copy does. Here it walks in a random direction.
def order(copy, random)
  { type: "move", copy: copy["number"], direction: DIRECTIONS.sample(random: random) }
end
{{end}}
{{only infection}}
  return legal.sample(random: random) if legal&.any? # every legal action, where they are few
  return { type: "answer" } if view["question"]["type"] == "answer"

  { type: "contact", with: view["partners"].sample(random: random) }
end
{{end}}
{{not last-bullet infection}}
  legal.sample(random: random) # every legal action
end
{{end}}

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
