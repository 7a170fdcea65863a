package io.kamille.cache.purge;

import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.ObjLongConsumer;
import org.jspecify.annotations.Nullable;

/** The last purges of each tag. One thread writes, any thread reads. */
final class TagMarks {

  /*
   * Open addressing by the tag's own bits, which are a keyed hash and evenly spread. Half of the
   * slots stay empty. Nothing is taken out: a smaller table is made instead, so that readers never
   * meet a gap.
   */
  private record Mark(long tag, @Nullable Purge hard, @Nullable Purge soft) {

    Mark with(Purge purge) {
      return purge.isSoft() ? new Mark(tag, hard, purge) : new Mark(tag, purge, soft);
    }
  }

  private static final int LEAST_SLOTS = 16;

  private final AtomicReferenceArray<Mark> slots;
  private int size;

  /** An empty table. */
  TagMarks() {
    this(LEAST_SLOTS);
  }

  private TagMarks(int slots) {
    this.slots = new AtomicReferenceArray<>(slots);
  }

  int size() {
    return size;
  }

  /** The last hard purge of a tag that came after that number, else the last soft one, or null. */
  @Nullable Purge find(long tag, long since) {
    Mark mark = slots.get(slot(tag));
    if (mark == null) {
      return null;
    }
    if (mark.hard != null && mark.hard.sequence() > since) {
      return mark.hard;
    }
    return mark.soft != null && mark.soft.sequence() > since ? mark.soft : null;
  }

  boolean has(long tag) {
    return slots.get(slot(tag)) != null;
  }

  /** This table with a purge noted, or a larger one. */
  TagMarks with(long tag, Purge purge) {
    int slot = slot(tag);
    Mark before = slots.get(slot);
    if (before != null) {
      slots.set(slot, before.with(purge));
      return this;
    }
    if (2 * (size + 1) > slots.length()) {
      return copy(2 * slots.length(), 0).with(tag, purge);
    }
    slots.set(slot, new Mark(tag, null, null).with(purge));
    size++;
    return this;
  }

  /** A table of the tags that were purged after that number. */
  TagMarks since(long sequence) {
    return copy(LEAST_SLOTS, sequence);
  }

  /** Shows each tag with each purge of it. Not while somebody writes. */
  void forEach(ObjLongConsumer<Purge> reader) {
    for (int i = 0; i < slots.length(); i++) {
      Mark mark = slots.get(i);
      if (mark != null && mark.hard != null) {
        reader.accept(mark.hard, mark.tag);
      }
      if (mark != null && mark.soft != null) {
        reader.accept(mark.soft, mark.tag);
      }
    }
  }

  private TagMarks copy(int length, long since) {
    TagMarks copy = new TagMarks(length);
    for (int i = 0; i < slots.length(); i++) {
      Mark mark = slots.get(i);
      if (mark != null) {
        copy = copy.withAll(mark, since);
      }
    }
    return copy;
  }

  private TagMarks withAll(Mark mark, long since) {
    TagMarks copy = this;
    if (mark.hard != null && mark.hard.sequence() > since) {
      copy = copy.with(mark.tag, mark.hard);
    }
    if (mark.soft != null && mark.soft.sequence() > since) {
      copy = copy.with(mark.tag, mark.soft);
    }
    return copy;
  }

  /** Where the tag is, or an empty slot. */
  private int slot(long tag) {
    int slot = (int) (tag >>> 1) & (slots.length() - 1);
    while (true) {
      Mark mark = slots.get(slot);
      if (mark == null || mark.tag == tag) {
        return slot;
      }
      slot = (slot + 1) & (slots.length() - 1);
    }
  }
}
