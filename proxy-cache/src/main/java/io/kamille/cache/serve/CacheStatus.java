package io.kamille.cache.serve;

import io.kamille.cache.rules.ForwardReason;
import io.kamille.cache.store.StoredResponse;
import io.kamille.core.h1.HeadWriter;
import io.kamille.core.http.FieldName;
import io.kamille.core.http.Fields;
import java.util.Objects;
import java.util.StringJoiner;
import org.jspecify.annotations.Nullable;

/**
 * This cache's member of the {@code Cache-Status} field (RFC 9211), behind those of the caches
 * nearer to the origin (§2). Any thread.
 *
 * <p>{@code stored} (§2.5) goes out with the head, before the content is here. It says that the
 * response is storable and that storing it was begun; of a known length all memory is reserved by
 * then. It is not true in the end if the content breaks off, if content of unknown length outgrows
 * the limit or the memory, or if the key is purged meanwhile. A field cannot be taken back; the
 * metric {@code kamille_cache_fills_total} counts how fills ended.
 */
public final class CacheStatus {

  /** How a cache that stands alone names itself. */
  public static final String NAME = "kamille";

  private static final byte[] FIELD = Fields.octetsOf("Cache-Status: ");
  private static final byte[] SEPARATOR = Fields.octetsOf(", ");

  private final String name;
  private final byte[] hit;
  private final byte[] negativeHit;

  // The last member that was told for each reason. Any loop writes; records are safe to race for.
  private final @Nullable Told[] told = new Told[ForwardReason.values().length];

  /**
   * The member of a cache of that name.
   *
   * @param name a token
   */
  public CacheStatus(String name) {
    this.name = name;
    hit = Fields.octetsOf(name + "; hit; ttl=");
    negativeHit = Fields.octetsOf(name + "; hit; ttl=-");
  }

  /**
   * Adds the field line of a stored response that is sent. Allocates nothing on a hit.
   *
   * @param forwarding what became of the request before; null for a hit
   */
  void add(
      HeadWriter lines,
      StoredResponse stored,
      long nowEpochSeconds,
      @Nullable Forwarding forwarding) {
    lines.octets(FIELD);
    addMembers(lines, stored, nowEpochSeconds, forwarding);
    lines.newLine();
  }

  /** As {@link #add(HeadWriter, StoredResponse, long, Forwarding)}, to fields. */
  void add(
      Fields fields, StoredResponse stored, long nowEpochSeconds, @Nullable Forwarding forwarding) {
    HeadWriter members = new HeadWriter();
    addMembers(members, stored, nowEpochSeconds, forwarding);
    fields.add(FieldName.CACHE_STATUS, members.toString());
  }

  private void addMembers(
      HeadWriter to, StoredResponse stored, long nowEpochSeconds, @Nullable Forwarding forwarding) {
    String behind = stored.upstreamCacheStatus();
    if (behind != null) {
      to.text(behind);
      to.octets(SEPARATOR);
    }
    if (forwarding != null) {
      to.text(name + forwarding);
    } else {
      long ttl = stored.facts().ttlSeconds(nowEpochSeconds);
      to.octets(ttl < 0 ? negativeHit : hit);
      to.decimal(Math.abs(ttl));
    }
  }

  /** Takes from a response that came what claims to be said by us: it is not. */
  public void received(Fields fields) {
    String members = fields.joined(FieldName.CACHE_STATUS);
    if (members == null || !members.contains(name)) {
      return;
    }
    StringJoiner others = new StringJoiner(", ");
    for (int start = 0; start < members.length(); ) {
      int end = memberEnd(members, start);
      String member = members.substring(start, end).strip();
      if (!member.isEmpty() && !isOurs(member)) {
        others.add(member);
      }
      start = end + 1;
    }
    if (others.length() == 0) {
      fields.remove(FieldName.CACHE_STATUS);
    } else {
      fields.set(FieldName.CACHE_STATUS, others.toString());
    }
  }

  /** Whether the item (RFC 9211 §2: a String or a Token) before the parameters is our name. */
  private boolean isOurs(String member) {
    int parameters = member.indexOf(';');
    String item = parameters < 0 ? member : member.substring(0, parameters).strip();
    return item.equals(name) || item.equals('"' + name + '"');
  }

  /** Where the comma behind a member stands that is in no String, or the end. */
  private static int memberEnd(String members, int start) {
    boolean isString = false;
    int at = start;
    while (at < members.length() && (isString || members.charAt(at) != ',')) {
      char c = members.charAt(at);
      if (c == '"') {
        isString = !isString;
      } else if (c == '\\' && isString) {
        at++;
      }
      at++;
    }
    return Math.min(at, members.length());
  }

  /** Adds the field line of a response that comes from behind. */
  public void forwarded(Fields fields, Forwarding forwarding) {
    fields.add(FieldName.CACHE_STATUS, member(forwarding));
  }

  /** The member itself. */
  public String member(Forwarding forwarding) {
    if (!forwarding.isUsual()) {
      return name + forwarding;
    }
    int reason = forwarding.reason().ordinal();
    Told last = told[reason];
    if (last == null || !Objects.equals(last.detail, forwarding.detail())) {
      last = new Told(forwarding.detail(), name + forwarding);
      told[reason] = last;
    }
    return last.text;
  }

  /** A member that told of nothing but a reason and a detail. */
  private record Told(@Nullable String detail, String text) {}
}
