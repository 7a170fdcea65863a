package io.kamille.cache.purge;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.kamille.cache.key.NormalUri;
import io.kamille.cache.rules.Tags;
import io.kamille.core.metric.MetricDescriptor;
import io.kamille.core.metric.MetricDescriptor.Unit;
import io.kamille.core.metric.MetricRegistry;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What was purged, and in which order. A purge is a note here and nothing more, however many
 * responses it is about; each response is compared with the notes when it is next looked at.
 *
 * <p>Any thread; reading never waits.
 */
public final class PurgeTable {

  private static final MetricDescriptor PURGE_NOTES =
      MetricDescriptor.gauge(
          "kamille_cache_purge_notes",
          Unit.COUNT,
          "Tags and prefixes that are remembered as purged.");

  /*
   * Purges are numbered. A response carries the number of the last purge before its request was
   * forwarded; whatever was purged since then and matches it, purged it, stored or still on its
   * way. Once compared it carries the number up to which it is, so as long as no purge comes, a hit
   * costs one read and one comparison.
   *
   * A purge first notes what it is about, then publishes its number; a reader takes the number
   * first. So nobody is taken for compared with a note that he could not see.
   *
   * Notes are bounded. When they become many, those up to a number S are let go: first no response
   * older than S is stored any more (the floor); then all that is stored is compared; then S is
   * published as trimmed, then the notes go. Who is older than what was trimmed, and was missed by
   * all that, counts as purged.
   *
   * Where responses outlive the process, so must the notes: each is told to a keeper as it is made.
   * A process that takes them over begins with a number that its predecessor cannot have come to,
   * even if that was killed before its last notes were kept: what it stored then bears smaller
   * numbers than every purge of the new one.
   */
  private static final long NUMBERS_OF_A_PROCESS = 1L << 32;

  /** How many tags can be noted, at some 100 octets each. */
  public static final int TAG_LIMIT = 1 << 16;

  /** How many prefixes can be noted. */
  public static final int PREFIX_LIMIT = 1 << 10;

  /** How many octets all prefixes together can have. */
  public static final int PREFIX_OCTETS_LIMIT = 1 << 20;

  /** Purged by something that is no longer noted. */
  private static final Purge TRIMMED = new Purge(0, PurgeTarget.all(), false, 0);

  private record Prefix(String text, Purge purge) {}

  /** The last purges of one tag. */
  private record Mark(@Nullable Purge hard, @Nullable Purge soft) {

    private static final Mark NONE = new Mark(null, null);

    Mark with(Purge purge) {
      return purge.isSoft() ? new Mark(hard, purge) : new Mark(purge, soft);
    }

    /** What came after that number; null if nothing did. */
    @Nullable Mark since(long sequence) {
      Mark later =
          new Mark(
              hard != null && hard.sequence() > sequence ? hard : null,
              soft != null && soft.sequence() > sequence ? soft : null);
      return later.equals(NONE) ? null : later;
    }
  }

  private final int tagLimit;
  private final int prefixLimit;
  private final long prefixOctetsLimit;
  private final ConcurrentMap<Long, Mark> tags = new ConcurrentHashMap<>();

  /** The last comes first. */
  private volatile Prefix[] prefixes = {};

  @GuardedBy("this")
  private PurgeNotes.@Nullable Keeper keeper;

  /** Another process that has the same responses, besides the keeper. */
  @GuardedBy("this")
  private @Nullable RemovalListener other;

  private volatile long last;
  private volatile long lastRemovalByTag;
  private volatile long floor;
  private volatile long trimmed;

  public PurgeTable() {
    this(TAG_LIMIT, PREFIX_LIMIT, PREFIX_OCTETS_LIMIT);
  }

  PurgeTable(int tagLimit, int prefixLimit, long prefixOctetsLimit) {
    this.tagLimit = tagLimit;
    this.prefixLimit = prefixLimit;
    this.prefixOctetsLimit = prefixOctetsLimit;
  }

  /** The number of the last purge. */
  public long last() {
    return last;
  }

  /** Who was forwarded before that purge is not stored. */
  public long floor() {
    return floor;
  }

  /** Tells of the table in {@code registry}. */
  public void register(MetricRegistry registry) {
    registry.gauge(PURGE_NOTES, this::size);
  }

  /** How many tags and prefixes are noted. */
  public int size() {
    return tags.size() + prefixes.length;
  }

  /**
   * Notes a purge, which holds at once; null if there is no room before {@link #trim}. There always
   * is for a hard one of everything: it takes the place of all prefixes.
   */
  public synchronized @Nullable Purge purge(PurgeTarget target, boolean isSoft, long nowSeconds) {
    Purge purge = new Purge(last + 1, target, isSoft, nowSeconds);
    if (!hasRoom(target, isSoft)) {
      return null;
    }
    note(target.tags(), purge);
    if (!target.prefixes().isEmpty()) {
      prefixes = with(target.prefixes(), purge);
    }
    if (!isSoft && target.tags().size() > 0) {
      lastRemovalByTag = purge.sequence();
    }
    last = purge.sequence();
    PurgeNotes.Note note = PurgeNotes.Note.of(purge, target.prefixes(), target.tags());
    if (keeper != null) {
      keeper.noted(note);
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
  public synchronized void keep(PurgeNotes others, PurgeNotes.Keeper keeper) {
    Map<String, Prefix> oldestFirst = new LinkedHashMap<>();
    List<PurgeNotes.Note> inOrder =
        Stream.concat(notes().notes().stream(), others.notes().stream())
            .sorted(Comparator.comparingLong(PurgeNotes.Note::sequence))
            .toList();
    for (PurgeNotes.Note note : inOrder) {
      Purge purge = note.purge();
      note(note.tags(), purge);
      note.prefixes().forEach(text -> add(new Prefix(text, purge), oldestFirst));
    }
    prefixes = List.copyOf(oldestFirst.values()).reversed().toArray(Prefix[]::new);
    trimmed = Math.max(trimmed, others.trimmed());
    last = (Math.max(last, others.last()) / NUMBERS_OF_A_PROCESS + 1) * NUMBERS_OF_A_PROCESS;
    this.keeper = keeper;
  }

  private void note(Tags marked, Purge purge) {
    for (int i = 0; i < marked.size(); i++) {
      tags.merge(marked.at(i), Mark.NONE.with(purge), (before, _) -> before.with(purge));
    }
  }

  /** Tells that one of all that comes, too; null for nobody. */
  public synchronized void alsoTell(@Nullable RemovalListener listener) {
    other = listener;
  }

  /** Tells {@code keeper} of all that comes, instead of the keeper before. */
  public synchronized void tell(PurgeNotes.@Nullable Keeper keeper) {
    this.keeper = keeper;
  }

  /** Adds a note in the place of those that it makes superfluous. */
  private static void add(Prefix prefix, Map<String, Prefix> oldestFirst) {
    boolean isSoft = prefix.purge.isSoft();
    if (!isSoft && prefix.text.isEmpty()) {
      oldestFirst.clear();
    }
    String key = (isSoft ? "soft " : "hard ") + prefix.text;
    oldestFirst.remove(key);
    oldestFirst.put(key, prefix);
  }

  /** All that is noted. */
  public synchronized PurgeNotes notes() {
    List<PurgeNotes.Note> notes = new ArrayList<>();
    tags.forEach(
        (tag, mark) ->
            Stream.of(mark.hard(), mark.soft())
                .filter(Objects::nonNull)
                .map(purge -> PurgeNotes.Note.of(purge, List.of(), Tags.ofBits(tag)))
                .forEach(notes::add));
    for (Prefix prefix : prefixes) {
      notes.add(PurgeNotes.Note.of(prefix.purge, List.of(prefix.text), Tags.NONE));
    }
    return new PurgeNotes(last, trimmed, notes);
  }

  private boolean hasRoom(PurgeTarget target, boolean isSoft) {
    int added = 0;
    for (int i = 0; i < target.tags().size(); i++) {
      added += tags.containsKey(target.tags().at(i)) ? 0 : 1;
    }
    return (added == 0 || tags.size() + added <= tagLimit)
        && (target.prefixes().isEmpty() || hasRoom(target.prefixes(), isSoft));
  }

  private boolean hasRoom(List<String> texts, boolean isSoft) {
    List<Prefix> kept = others(texts, isSoft);
    long added = texts.stream().mapToLong(String::length).sum();
    return kept.size() + texts.size() <= prefixLimit
        && octets(kept.stream()) + added <= prefixOctetsLimit;
  }

  private static long octets(Stream<Prefix> prefixes) {
    return prefixes.mapToLong(prefix -> prefix.text.length()).sum();
  }

  private Prefix[] with(List<String> texts, Purge purge) {
    List<Prefix> all = new ArrayList<>();
    texts.forEach(text -> all.add(new Prefix(text, purge)));
    all.addAll(others(texts, purge.isSoft()));
    return all.toArray(Prefix[]::new);
  }

  /** The notes that a purge of these prefixes does not take the place of. */
  private List<Prefix> others(List<String> texts, boolean isSoft) {
    boolean isOfAll = !isSoft && texts.contains("");
    return Arrays.stream(prefixes)
        .filter(other -> !isOfAll)
        .filter(other -> other.purge.isSoft() != isSoft || !texts.contains(other.text))
        .toList();
  }

  /**
   * The purge that a response fell under since then, a hard one if there are both; null if none.
   *
   * @param since the number up to which it was compared already
   * @param normalUri its URI ({@link NormalUri}), asked for only if it matters
   */
  public @Nullable Purge find(long since, Tags ofResponse, Supplier<@Nullable String> normalUri) {
    Purge found = findByTag(since, ofResponse);
    if (found == null || found.isSoft()) {
      found = stronger(found, findByPrefix(since, normalUri));
    }
    return since < trimmed ? TRIMMED : found;
  }

  /**
   * Whether a response on its way is, or may be, one that a hard purge was about: then no request
   * follows it. Whether it is stored at its end is asked by {@link #find}.
   *
   * @param since the last purge before it was forwarded
   * @param ofResponse null until its head is known: then any tag may be its own
   */
  public boolean mayRemove(
      long since, @Nullable Tags ofResponse, Supplier<@Nullable String> normalUri) {
    if (since == last) {
      return false;
    }
    Purge found = find(since, ofResponse == null ? Tags.NONE : ofResponse, normalUri);
    return (found != null && !found.isSoft()) || (ofResponse == null && lastRemovalByTag > since);
  }

  private @Nullable Purge findByTag(long since, Tags ofResponse) {
    Purge found = null;
    for (int i = 0; i < ofResponse.size(); i++) {
      Mark mark = tags.get(ofResponse.at(i));
      Mark later = mark == null ? null : mark.since(since);
      found = later == null ? found : stronger(found, stronger(later.hard(), later.soft()));
    }
    return found;
  }

  private @Nullable Purge findByPrefix(long since, Supplier<@Nullable String> normalUri) {
    Prefix[] newestFirst = prefixes;
    if (newestFirst.length == 0 || newestFirst[0].purge.sequence() <= since) {
      return null;
    }
    String uri = normalUri.get();
    Purge found = null;
    for (Prefix prefix : newestFirst) {
      if (prefix.purge.sequence() <= since) {
        break;
      }
      if (uri == null || PurgeTarget.begins(uri, prefix.text)) {
        found = stronger(found, prefix.purge);
      }
    }
    return found;
  }

  private static @Nullable Purge stronger(@Nullable Purge one, @Nullable Purge other) {
    if (one == null || other == null) {
      return one == null ? other : one;
    }
    return one.isSoft() && !other.isSoft() ? other : one;
  }

  /** Whether there are so many notes that it is time to let them go. */
  public boolean isCrowded() {
    return 2 * tags.size() > tagLimit
        || 2 * prefixes.length > prefixLimit
        || 2 * octets(Arrays.stream(prefixes)) > prefixOctetsLimit;
  }

  /** From now on nothing is stored that was forwarded before that purge. */
  public void raiseFloor(long sequence) {
    floor = sequence;
  }

  /**
   * Lets the notes go up to that purge. All that is stored has been compared with them since {@link
   * #raiseFloor}.
   */
  public synchronized void trim(long sequence) {
    trimmed = sequence;
    tags.keySet().forEach(tag -> tags.computeIfPresent(tag, (_, mark) -> mark.since(sequence)));
    prefixes =
        Arrays.stream(prefixes)
            .filter(prefix -> prefix.purge.sequence() > sequence)
            .toArray(Prefix[]::new);
    if (keeper != null) {
      keeper.trimmed(sequence);
    }
  }
}
