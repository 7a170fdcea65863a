package io.kamille.cache.serve;

import io.kamille.cache.rules.ForwardReason;
import io.kamille.cache.store.StoredResponse;
import io.kamille.core.http.FieldName;
import io.kamille.core.http.Fields;
import io.kamille.core.http.Octets;
import io.kamille.core.http.RequestHead;
import java.util.HexFormat;
import java.util.Objects;
import java.util.Optional;
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

  private static final byte[] FIELD = OwnLines.ascii("Cache-Status: ");
  private static final byte[] SEPARATOR = OwnLines.ascii(", ");

  private final @Nullable String name;
  private final boolean showsKey;
  private final byte[] hit;

  // The last member that was told for each reason. Any loop writes; records are safe to race for.
  private final @Nullable Told[] told = new Told[ForwardReason.values().length];

  private CacheStatus(@Nullable String name, boolean showsKey) {
    this.name = name;
    this.showsKey = showsKey;
    this.hit = OwnLines.ascii(name + "; hit; ttl=");
  }

  /**
   * The member by that name, a token; none at all if empty. Members of caches behind us stay.
   *
   * @param showsKey whether it has the parameter {@code key} (§2.7)
   */
  public static CacheStatus of(Optional<String> name, boolean showsKey) {
    return new CacheStatus(name.orElse(null), showsKey);
  }

  /** The same, with the key of that request if keys are shown. */
  public Forwarding keyed(Forwarding forwarding, RequestHead request) {
    if (name == null || !showsKey) {
      return forwarding;
    }
    String scheme = request.isSecure() ? "https://" : "http://";
    return forwarding.key(quoted(scheme + request.authority() + request.pathAndQuery()));
  }

  /** A String (RFC 9651 §3.3.3); what it cannot hold is percent-encoded. */
  private static String quoted(String text) {
    StringBuilder quoted = new StringBuilder(text.length() + 2).append('"');
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c <= ' ' || c >= 0x7f) {
        quoted.append('%').append(HexFormat.of().withUpperCase().toHexDigits((byte) c));
      } else {
        quoted.append(c == '"' || c == '\\' ? "\\" : "").append(c);
      }
    }
    return quoted.append('"').toString();
  }

  /**
   * Adds the field line of a stored response that is sent. Allocates nothing on a hit.
   *
   * @param forwarding what became of the request before; null for a hit
   */
  void add(
      OwnLines lines,
      StoredResponse stored,
      long nowEpochSeconds,
      @Nullable Forwarding forwarding) {
    if (name != null || stored.upstreamCacheStatus() != null) {
      lines.append(FIELD);
      addMembers(lines, stored, nowEpochSeconds, forwarding);
      lines.endLine();
    }
  }

  /** As {@link #add(OwnLines, StoredResponse, long, Forwarding)}, to fields. */
  void add(
      Fields fields, StoredResponse stored, long nowEpochSeconds, @Nullable Forwarding forwarding) {
    OwnLines members = new OwnLines();
    addMembers(members, stored, nowEpochSeconds, forwarding);
    if (members.length() > 0) {
      fields.add(FieldName.CACHE_STATUS, Octets.text(members.octets(), 0, members.length()));
    }
  }

  private void addMembers(
      OwnLines to, StoredResponse stored, long nowEpochSeconds, @Nullable Forwarding forwarding) {
    String behind = stored.upstreamCacheStatus();
    if (behind != null) {
      to.append(OwnLines.ascii(behind));
    }
    if (behind != null && name != null) {
      to.append(SEPARATOR);
    }
    if (name != null && forwarding != null) {
      to.append(OwnLines.ascii(name + forwarding));
    } else if (name != null) {
      to.append(hit);
      to.append(stored.facts().ttlSeconds(nowEpochSeconds));
      if (showsKey) {
        to.append(OwnLines.ascii("; key=" + quoted(stored.uri())));
      }
    }
  }

  /** Takes from a response that came what claims to be said by us: it is not. */
  public void received(Fields fields) {
    String members = name == null ? null : fields.joined(FieldName.CACHE_STATUS);
    if (members == null || name == null || !members.contains(name)) {
      return;
    }
    StringJoiner others = new StringJoiner(", ");
    for (int start = 0; start < members.length(); ) {
      int end = memberEnd(members, start);
      String member = members.substring(start, end).strip();
      if (!member.isEmpty() && !isOurs(member, name)) {
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
  private static boolean isOurs(String member, String name) {
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
    if (name != null) {
      fields.add(FieldName.CACHE_STATUS, text(name, forwarding));
    }
  }

  /** The member itself; empty if there is none. */
  public String member(Forwarding forwarding) {
    return name == null ? "" : text(name, forwarding);
  }

  private String text(String name, Forwarding forwarding) {
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
