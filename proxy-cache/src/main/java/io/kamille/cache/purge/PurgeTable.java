package io.kamille.cache.purge;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.kamille.cache.key.NormalUri;
import io.kamille.cache.rules.Tags;
import io.kamille.core.metric.MetricRegistry;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What was purged, and in which order. A purge is a number at the names that it is about, however
 * many responses these have; each response is compared with the numbers when it is next looked at.
 *
 * <p>Any thread; reading never waits.
 */
public final class PurgeTable {

  private static final System.Logger LOG = System.getLogger("kamille.cache");

  /*
   * Purges are numbered. A response carries the number of the last purge before its request was
   * forwarded; whatever was purged since then and matches it, purged it, stored or still on its
   * way. Once compared it carries the number up to which it is, so as long as no purge comes, a hit
   * costs one read and one comparison.
   *
   * A purge first raises its names' numbers, then publishes its own; a reader takes the number
   * first. So nobody is taken for compared with a purge that he could not see.
   *
   * The table has a fixed size (PurgeNumbers) and forgets nothing, so it is never compared with all
   * that is stored. Only prefixes within a segment of a path are a list. If it is full, the one
   * whose segment above has the least below it goes: all below that segment counts as purged then,
   * by the number of the one that goes.
   *
   * Where responses outlive the process, so do the numbers: each purge is told to a keeper as it is
   * made. A process that takes them over begins with a number that its predecessor cannot have come
   * to, even if that was killed before its last purges were kept: what it stored then bears smaller
   * numbers than every purge of the new one.
   */
  private static final long NUMBERS_OF_A_PROCESS = 1L << 32;

  /** How many prefixes within a segment of a path are remembered. */
  public static final int PREFIX_LIMIT = 1 << 10;

  /** How many octets these have together. */
  public static final int PREFIX_OCTETS_LIMIT = 1 << 20;

  /** Of how many soft purges is known when they were made; the others seem to be some older. */
  private static final int TIMES = 1 << 12;

  /** How many purges count what they did. */
  private static final int RECENT = 256;

  private record Prefix(String text, long number, boolean isSoft) {

    boolean isWithin(Prefix other) {
      return isSoft == other.isSoft && number <= other.number && text.startsWith(other.text);
    }

    /** First what costs least if all below the segment above is purged, and then the oldest. */
    static final Comparator<Prefix> LEAST_LOSS_FIRST =
        Comparator.<Prefix>comparingInt(prefix -> loss(PrefixNames.above(prefix.text)))
            .thenComparingLong(Prefix::number);

    private static int loss(String above) {
      long slashes = above.chars().filter(c -> c == '/').count();
      return above.startsWith("/") ? (slashes > 1 ? 1 : 3) : slashes > 3 ? 0 : 2;
    }
  }

  private final PurgeNumbers numbers = new PurgeNumbers();

  /** Those that count what they do. */
  private final ConcurrentSkipListMap<Long, Purge> recent = new ConcurrentSkipListMap<>();

  /** When soft purges were made, by number; one for each second. */
  private final ConcurrentSkipListMap<Long, Long> times = new ConcurrentSkipListMap<>();

  /** The last comes first. */
  private volatile Prefix[] within = {};

  /** Keeps notes for a later process, in order; does not wait. */
  @GuardedBy("this")
  private @Nullable Consumer<PurgeNotes.Note> keeper;

  /** Another process that has the same responses, besides the keeper. */
  @GuardedBy("this")
  private @Nullable RemovalListener other;

  // Volatile: written under the lock before the last number is, read by all.
  private volatile long last;
  private volatile long lastTag;
  private volatile long lastPrefix;
  private volatile long hardOfAll;
  private volatile long softOfAll;
  private final LongAdder widened = new LongAdder();

  /** The number of the last purge. */
  public long last() {
    return last;
  }

  /** Tells of the table in {@code registry}. */
  public void register(MetricRegistry registry) {
    registry.gauge(
        "kamille_cache_purge_notes",
        "Purged prefixes that end within a segment of a path, which are remembered one by one.",
        this::size);
    registry.counting(
        "kamille_cache_purges_widened_total",
        "Purged prefixes within a segment of a path that became purges of all below the segment"
            + " above, because 1,024 newer ones were remembered.",
        widened::sum);
  }

  /** How many prefixes within a segment are remembered. */
  public int size() {
    return within.length;
  }

  /** Notes a purge, which holds at once. */
  public synchronized Purge purge(PurgeTarget target, boolean isSoft, long nowSeconds) {
    long number = last + 1;
    Purge purge = new Purge(number, target, isSoft, nowSeconds);
    recent.put(number, purge);
    if (recent.size() > RECENT) {
      recent.pollFirstEntry();
    }
    PurgeNotes.Note note = PurgeNotes.Note.of(purge, target.prefixes(), target.tags());
    note(note);
    last = number;
    if (keeper != null) {
      keeper.accept(note);
    }
    if (other != null) {
      other.purged(note);
    }
    return purge;
  }

  /**
   * Adds what another process noted, before anything that it stored is found, and tells {@code
   * keeper} of all that comes.
   */
  public synchronized void keep(PurgeNotes others, Consumer<PurgeNotes.Note> keeper) {
    long largest = numbers.raise(others.numbers());
    lastTag = Math.max(lastTag, largest);
    lastPrefix = Math.max(lastPrefix, largest);
    for (PurgeNotes.Note note : others.notes()) {
      note(note);
    }
    largest = Math.max(Math.max(last, largest), others.last());
    last = (largest / NUMBERS_OF_A_PROCESS + 1) * NUMBERS_OF_A_PROCESS;
    this.keeper = keeper;
  }

  /** Tells that one of all that comes, too; null for nobody. */
  public synchronized void alsoTell(@Nullable RemovalListener listener) {
    other = listener;
  }

  /** Tells {@code keeper} of all that comes, instead of the keeper before. */
  public synchronized void tell(@Nullable Consumer<PurgeNotes.Note> keeper) {
    this.keeper = keeper;
  }

  /** All that is noted. */
  public synchronized PurgeNotes notes() {
    List<PurgeNotes.Note> notes = new ArrayList<>();
    Stream.of(new Prefix("", hardOfAll, false), new Prefix("", softOfAll, true))
        .filter(all -> all.number > 0)
        .map(this::noteOf)
        .forEach(notes::add);
    Stream.of(within).map(this::noteOf).forEach(notes::add);
    times.forEach(
        (number, time) -> notes.add(new PurgeNotes.Note(number, true, time, List.of(), Tags.NONE)));
    return new PurgeNotes(last, notes, numbers);
  }

  private PurgeNotes.Note noteOf(Prefix prefix) {
    return new PurgeNotes.Note(
        prefix.number,
        prefix.isSoft,
        epochSeconds(prefix.number, prefix.isSoft),
        List.of(prefix.text),
        Tags.NONE);
  }

  private long epochSeconds(long number, boolean isSoft) {
    Map.Entry<Long, Long> time = isSoft ? times.floorEntry(number) : null;
    return time == null ? 0 : time.getValue();
  }

  // What is purged

  @GuardedBy("this")
  private void note(PurgeNotes.Note note) {
    if (note.isSoft()) {
      noteTime(note.sequence(), note.epochSeconds());
    }
    for (int i = 0; i < note.tags().size(); i++) {
      raise(note.tags().at(i), note.sequence(), note.isSoft());
      lastTag = Math.max(lastTag, note.sequence());
    }
    for (String text : note.prefixes()) {
      Prefix prefix = new Prefix(text, note.sequence(), note.isSoft());
      String twin = twin(text);
      if (twin == null || !note.prefixes().contains(twin)) {
        note(prefix, false);
      } else if (text.startsWith("https:") || PrefixNames.of(text, true) == 0) {
        note(prefix, true);
      }
    }
  }

  /** If that is too many, every second one of the older half goes. */
  @GuardedBy("this")
  private void noteTime(long number, long epochSeconds) {
    if (epochSeconds(number, true) != epochSeconds) {
      times.put(number, epochSeconds);
    }
    if (times.size() > TIMES) {
      boolean goes = false;
      for (long older : List.copyOf(times.keySet()).subList(0, TIMES / 2)) {
        if (goes) {
          times.remove(older);
        }
        goes = !goes;
      }
    }
  }

  /** The same at the other scheme; null if that prefix has none. */
  private static @Nullable String twin(String text) {
    if (text.startsWith("https://")) {
      return "http" + text.substring("https".length());
    }
    return text.startsWith("http://") ? "https" + text.substring("http".length()) : null;
  }

  @GuardedBy("this")
  private void note(Prefix prefix, boolean isAnyScheme) {
    long name = prefix.text.isEmpty() ? 0 : PrefixNames.of(prefix.text, isAnyScheme);
    if (prefix.text.isEmpty()) {
      ofAll(prefix);
    } else if (name == 0) {
      add(prefix);
    } else {
      raise(name, prefix.number, prefix.isSoft);
    }
    lastPrefix = Math.max(lastPrefix, prefix.number);
  }

  @GuardedBy("this")
  private void ofAll(Prefix prefix) {
    if (prefix.isSoft) {
      softOfAll = Math.max(softOfAll, prefix.number);
    } else {
      hardOfAll = Math.max(hardOfAll, prefix.number);
    }
  }

  private void raise(long name, long number, boolean isSoft) {
    numbers.raise(isSoft ? ~name : name, number);
  }

  /** A prefix within a segment takes the place of those that it makes superfluous. */
  @GuardedBy("this")
  private void add(Prefix prefix) {
    List<Prefix> all = new ArrayList<>();
    all.add(prefix);
    for (Prefix before : within) {
      if (!before.isWithin(prefix)) {
        all.add(before);
      }
    }
    // Those of another process may be older.
    all.sort(Comparator.comparingLong(Prefix::number).reversed());
    while (all.size() > PREFIX_LIMIT || octets(all) > PREFIX_OCTETS_LIMIT) {
      Prefix least = all.stream().min(Prefix.LEAST_LOSS_FIRST).orElseThrow();
      all.remove(least);
      widen(least);
    }
    within = all.toArray(Prefix[]::new);
  }

  private static long octets(List<Prefix> prefixes) {
    return prefixes.stream().mapToLong(prefix -> prefix.text.length()).sum();
  }

  /** What is below the segment above counts as purged when that prefix was. */
  @GuardedBy("this")
  private void widen(Prefix prefix) {
    String above = PrefixNames.above(prefix.text);
    long name = PrefixNames.of(above, false);
    if (name == 0) {
      ofAll(prefix);
    } else {
      raise(name, prefix.number, prefix.isSoft);
    }
    if (widened.sum() % PREFIX_LIMIT == 0) {
      LOG.log(
          Level.WARNING,
          "so many purged prefixes end within a segment of a path that older ones count for all"
              + " below the segment above. The next one: {0}*",
          above.length() > 200 ? above.substring(0, 200) : above);
    }
    widened.increment();
  }

  // What a response fell under

  /**
   * The purge that a response fell under since then, a hard one if there are both; null if none.
   *
   * @param since the number up to which it was compared already
   * @param normalUri its URI ({@link NormalUri}), asked for only if it matters
   */
  public @Nullable Purge find(long since, Tags ofResponse, Supplier<@Nullable String> normalUri) {
    String uri = lastPrefix > since ? normalUri.get() : "";
    long hard = number(since, ofResponse, uri, false);
    if (hard > since) {
      return purge(hard, false);
    }
    long soft = number(since, ofResponse, uri, true);
    return soft > since ? purge(soft, true) : null;
  }

  /** As it was made, if that is not long ago. */
  private Purge purge(long number, boolean isSoft) {
    Purge purge = recent.get(number);
    return purge != null && purge.isSoft() == isSoft
        ? purge
        : new Purge(number, PurgeTarget.all(), isSoft, epochSeconds(number, isSoft));
  }

  /**
   * Whether a response on its way is one that a hard purge was about: then no request that comes
   * later may get it. Whether it is stored at its end is asked by {@link #find}.
   *
   * @param since the last purge before it was forwarded
   * @param ofResponse null until its head is known: then its tags are asked for later
   */
  public boolean isRemoved(
      long since, @Nullable Tags ofResponse, Supplier<@Nullable String> normalUri) {
    return since < last
        && number(
                since,
                ofResponse == null ? Tags.NONE : ofResponse,
                lastPrefix > since ? normalUri.get() : "",
                false)
            > since;
  }

  /** The last purge since then; 0 if none. */
  private long number(long since, Tags tags, @Nullable String uri, boolean isSoft) {
    long found = 0;
    for (int i = 0; lastTag > since && i < tags.size(); i++) {
      found = Math.max(found, named(since, tags.at(i), isSoft));
    }
    if (lastPrefix > since) {
      found = Math.max(found, uri == null ? lastPrefix : byPrefix(since, uri, isSoft));
    }
    return found;
  }

  private long named(long since, long name, boolean isSoft) {
    return numbers.since(since, isSoft ? ~name : name);
  }

  private long byPrefix(long since, String uri, boolean isSoft) {
    long[] found = {isSoft ? softOfAll : hardOfAll};
    if (uri.isEmpty()) {
      return found[0];
    }
    PrefixNames.forEach(
        uri,
        (exact, anyScheme, anyHost) -> {
          found[0] = Math.max(found[0], named(since, exact, isSoft));
          found[0] = Math.max(found[0], named(since, anyScheme, isSoft));
          found[0] = Math.max(found[0], named(since, anyHost, isSoft));
        });
    for (Prefix prefix : within) {
      if (prefix.number <= since) {
        break;
      }
      if (prefix.isSoft == isSoft && PurgeTarget.begins(uri, prefix.text)) {
        found[0] = Math.max(found[0], prefix.number);
      }
    }
    return found[0];
  }
}
