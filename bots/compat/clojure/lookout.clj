; Stands still while nobody dangerous is in sight, and walks at random otherwise.
(import '(zombie Move Player PlayerRegistry))

(defn danger? [context]
  (some #(= "Zombie" (.getName %)) (remove nil? (mapcat seq (.getPlayField context)))))

(PlayerRegistry/registerPlayer "Lookout"
  (reify Player
    (doTurn [this context]
      (if (danger? context) (Move/randomMove) Move/STAY))))
