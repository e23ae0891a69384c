package zombie;

/** Whom the copies of an entry see in one turn, by number: the same identity for all of them. */
final class Seen {
    private PlayerId[] slots;
    private int count;

    Seen() {
        slots = new PlayerId[1024];
    }

    private int slot(int number) {
        int mask = slots.length - 1;
        int slot = (number * 0x9E3779B9 >>> 8) & mask;
        while (slots[slot] != null && slots[slot].getNumber() != number) slot = (slot + 1) & mask;
        return slot;
    }

    /** Who has this number. */
    PlayerId get(int number) {
        return slots[slot(number)];
    }

    PlayerId getOrAdd(String name, int number) {
        int slot = slot(number);
        if (slots[slot] != null) return slots[slot];
        count++;
        if (2 * count > slots.length) {
            PlayerId[] before = slots;
            slots = new PlayerId[2 * before.length];
            for (PlayerId id : before) {
                if (id != null) slots[slot(id.getNumber())] = id;
            }
            slot = slot(number);
        }
        return slots[slot] = new PlayerId(name, number);
    }

    void clear() {
        java.util.Arrays.fill(slots, null);
        count = 0;
    }
}
