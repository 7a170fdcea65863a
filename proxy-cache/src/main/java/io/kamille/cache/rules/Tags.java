package io.kamille.cache.rules;

import io.kamille.cache.key.HashSecret;
import io.kamille.cache.key.SipHash;
import io.kamille.core.http.Authority;
import io.kamille.core.http.FieldName;
import io.kamille.core.http.Fields;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.RequestHead.Sender;
import io.kamille.core.http.StructuredFields;
import io.kamille.core.http.Topics;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * The names by which an origin lets many responses be purged at once: the tags of {@code
 * Surrogate-Key} and {@code Cache-Tag}, and the groups of {@code Cache-Groups} (RFC 9875), each as
 * 64 bits. Immutable; any thread.
 */
public final class Tags implements Topics {

  /*
   * A tag is a word of the whole cache; a group belongs to its origin (RFC 9875 §2.1), which goes
   * into its hash. The lowest bit tells them apart, so that an update that brings new tags and says
   * nothing of groups replaces the one and keeps the other. A secret goes in (HashSecret): nobody
   * outside can make two tags meet.
   *
   * Eight octets a membership, and 48 for a response that has any.
   */

  /**
   * How many tags, and how many groups, of a response are known. With more, every purge by tags is
   * about it, or every one by groups of its origin. RFC 9875 §2 wants 128 groups at the least.
   */
  public static final int LIMIT = 1024;

  /** How many octets a tag or group may have; one with more counts as too many. */
  public static final int LENGTH_LIMIT = 1024;

  /**
   * What stands for tags that are not known, because there are too many, or because stored
   * responses have hashes of theirs, which mean nothing to another proxy of ours. What has it falls
   * to every purge by tags.
   */
  public static final String ANY = "kamille-any-tag";

  public static final Tags NONE = new Tags(new long[0]);

  private static final long FIELDS =
      Fields.mask(FieldName.SURROGATE_KEY, FieldName.CACHE_TAG, FieldName.CACHE_GROUPS);
  private static final long TAG_FIELDS = Fields.mask(FieldName.SURROGATE_KEY, FieldName.CACHE_TAG);
  private static final String INVALIDATION = "Cache-Group-Invalidation";
  private static final long GROUP = 1;

  /*
   * People want to read of tags by their names. A name has one place by its hash, and a later one
   * takes it: 8,192 are enough for those that are asked for most.
   */
  private static final int NAMES = 8192;
  private static final int NAME_LENGTH = 200;
  private static final AtomicReferenceArray<@Nullable Named> NAMED =
      new AtomicReferenceArray<>(NAMES);

  private record Named(long hash, String name) {}

  private final long[] hashes;

  private Tags(long[] hashes) {
    this.hashes = hashes;
  }

  /** What this response is tagged with; {@link #NONE}, without garbage, if it is not. */
  public static Tags of(RequestHead request, Fields response) {
    return response.hasAny(FIELDS) ? of(tagsIn(response), groupsIn(response), request) : NONE;
  }

  /** These after an update of the stored response (RFC 9111 §4.3.4), which may bring others. */
  public Tags updated(RequestHead request, Fields update) {
    if (!update.hasAny(FIELDS)) {
      return this;
    }
    Tags news = of(request, update);
    boolean hasTags = update.hasAny(TAG_FIELDS);
    boolean hasGroups = update.has(FieldName.CACHE_GROUPS);
    long[] kept =
        Arrays.stream(hashes).filter(hash -> isGroup(hash) ? !hasGroups : !hasTags).toArray();
    long[] all = Arrays.copyOf(kept, kept.length + news.hashes.length);
    System.arraycopy(news.hashes, 0, all, kept.length, news.hashes.length);
    return new Tags(all);
  }

  /** Those names, or {@link #ANY} if they are too many or too long. */
  private static Set<String> known(Set<String> names) {
    return names.size() > LIMIT || names.stream().anyMatch(name -> name.length() > LENGTH_LIMIT)
        ? Set.of(ANY)
        : names;
  }

  /** Whether every purge by tags is about what has these. */
  public boolean areAny() {
    long any = ofTag(ANY);
    return Arrays.stream(hashes).anyMatch(hash -> hash == any);
  }

  /** The groups that the answer to an unsafe request makes invalid (RFC 9875 §3). */
  public static List<String> invalidated(Fields response) {
    List<String> lines = response.all(INVALIDATION);
    List<String> groups = lines.isEmpty() ? null : StructuredFields.strings(lines);
    return groups == null ? List.of() : groups.stream().distinct().toList();
  }

  /** These groups of the origin that the request goes to, and what has too many groups. */
  public static Tags groups(RequestHead request, List<String> groups) {
    Set<String> all = new LinkedHashSet<>(groups);
    all.add(ANY);
    return of(Set.of(), all, request);
  }

  /** Whether an origin can tag a response so, by one field or the other. */
  public static boolean isTag(String text) {
    return !text.isEmpty()
        && text.length() <= LENGTH_LIMIT
        && text.chars().allMatch(c -> c >= ' ' && c < 0x7f && c != ',')
        && text.strip().equals(text);
  }

  /** The tags with these bits, as {@link #at} gave them to a process with the same secret. */
  public static Tags ofBits(long... bits) {
    return bits.length == 0 ? NONE : new Tags(bits.clone());
  }

  private static long learnt(long hash, String tag) {
    int place = (int) (hash >>> 1) & (NAMES - 1);
    Named before = NAMED.getAcquire(place);
    if (before == null || before.hash != hash) {
      String name = tag.length() <= NAME_LENGTH ? tag : tag.substring(0, NAME_LENGTH) + "…";
      NAMED.setRelease(place, new Named(hash, name));
    }
    return hash;
  }

  /** The tag with these bits, if an origin has sent it since the start; null if that is unknown. */
  public static @Nullable String nameOf(long bits) {
    Named named = NAMED.getAcquire((int) (bits >>> 1) & (NAMES - 1));
    return named == null || named.hash != bits ? null : named.name;
  }

  /** The tags that an operator names. */
  public static Tags named(List<String> tags) {
    return new Tags(tags.stream().mapToLong(Tags::ofTag).distinct().toArray());
  }

  private static Tags of(Collection<String> tags, Collection<String> groups, RequestHead request) {
    long[] hashes = new long[tags.size() + groups.size()];
    int count = 0;
    for (String tag : tags) {
      hashes[count++] = learnt(ofTag(tag), tag);
    }
    for (String group : groups) {
      hashes[count++] = ofGroup(request, group);
    }
    return new Tags(Arrays.stream(hashes).distinct().toArray());
  }

  /** The tags, each once, and no more than one beyond the limit. */
  private static Set<String> tagsIn(Fields response) {
    if (!response.hasAny(TAG_FIELDS)) {
      return Set.of();
    }
    Set<String> tags = new LinkedHashSet<>();
    split(response.joined(FieldName.SURROGATE_KEY), " \t,", tags);
    split(response.joined(FieldName.CACHE_TAG), ",", tags);
    return known(tags);
  }

  /** One look at each octet: the field is the origin's, and may be as long as a head. */
  static void split(@Nullable CharSequence value, String separators, Set<String> tags) {
    if (value == null) {
      return;
    }
    int start = 0;
    for (int at = 0; at <= value.length() && tags.size() <= LIMIT; at++) {
      if (at == value.length() || separators.indexOf(value.charAt(at)) >= 0) {
        String tag = value.subSequence(start, at).toString().strip();
        if (!tag.isEmpty()) {
          tags.add(tag);
        }
        start = at + 1;
      }
    }
  }

  /** None if the field is not a list of strings (RFC 9875 §2, RFC 9651 §4.2). */
  private static Set<String> groupsIn(Fields response) {
    if (!response.has(FieldName.CACHE_GROUPS)) {
      return Set.of();
    }
    List<String> groups = StructuredFields.strings(response.all(FieldName.CACHE_GROUPS));
    return groups == null ? Set.of() : known(new LinkedHashSet<>(groups));
  }

  /** Whether the sender of a request is to be told that what it gets has tags. */
  public boolean areToldTo(RequestHead request) {
    return request.sender() != Sender.CLIENT && hashes.length > 0;
  }

  private static long ofTag(String tag) {
    SipHash hash = HashSecret.forTags();
    put(hash, tag.getBytes(StandardCharsets.ISO_8859_1));
    return finish(hash) & ~GROUP;
  }

  private static long ofGroup(RequestHead request, String group) {
    SipHash hash = HashSecret.forTags();
    hash.put((byte) (request.isSecure() ? 's' : 'p'));
    put(
        hash,
        Authority.normal(
            request.octets(),
            request.authorityStart(),
            request.authorityEnd(),
            request.isSecure()));
    hash.put((byte) '/');
    put(hash, group.getBytes(StandardCharsets.ISO_8859_1));
    return finish(hash) | GROUP;
  }

  private static void put(SipHash hash, byte[] octets) {
    hash.put(octets, 0, octets.length);
  }

  private static long finish(SipHash hash) {
    hash.finish();
    return hash.low();
  }

  private static boolean isGroup(long hash) {
    return (hash & GROUP) != 0;
  }

  @Override
  public int size() {
    return hashes.length;
  }

  /** The bits of the tag at {@code index}, the same for every response that has it. */
  @Override
  public long at(int index) {
    return hashes[index];
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof Tags tags && Arrays.equals(hashes, tags.hashes);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(hashes);
  }
}
