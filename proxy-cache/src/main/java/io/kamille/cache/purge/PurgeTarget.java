package io.kamille.cache.purge;

import io.kamille.cache.key.CacheKey;
import io.kamille.cache.key.NormalUri;
import io.kamille.cache.rules.Tags;
import io.kamille.core.http.RequestHead;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * What a purge is about. Immutable.
 *
 * @param kind how it is named
 * @param names as they were given
 * @param prefixes what the normal URIs begin with that it is about ({@link NormalUri}), or their
 *     paths
 * @param tags the tags that it is about
 */
public record PurgeTarget(Scope kind, List<String> names, List<String> prefixes, Tags tags) {

  /** How the responses of a purge are named. */
  public enum Scope {
    /** One target URI. */
    URL,
    /** All URIs that begin so. */
    PREFIX,
    /** All URIs of one host. */
    HOST,
    /** All that have one of these tags. */
    TAG,
    /** All that have one of these groups (RFC 9875); the origin asked for it. */
    GROUP,
    ALL;

    /** The word for it in the API and in metrics. */
    public String token() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** How many octets a prefix or a host may have: as many as one would expect of a URI. */
  public static final int LENGTH_LIMIT = 4096;

  private static final int SHOWN_LENGTH = 200;

  public PurgeTarget {
    names = List.copyOf(names);
    prefixes = List.copyOf(prefixes);
  }

  /**
   * What another node has called so; null if nothing can be.
   *
   * @param names of a group: the origin, and behind it the groups; of none, everything there
   */
  public static @Nullable PurgeTarget of(Scope kind, List<String> names) {
    if (names.isEmpty() && kind != Scope.ALL) {
      return null;
    }
    return switch (kind) {
      case URL -> url(names.getFirst());
      case PREFIX ->
          names.getFirst().startsWith("/")
              ? relativePrefix(names.getFirst())
              : prefix(names.getFirst());
      case HOST -> host(names.getFirst());
      case TAG -> tags(names);
      case GROUP -> {
        RequestHead request = CacheKey.request(names.getFirst());
        List<String> groups = names.subList(1, names.size());
        if (request == null) {
          yield null;
        }
        yield groups.isEmpty() ? originOf(request) : groups(request, groups);
      }
      case ALL -> all();
    };
  }

  /** One URI, which the index finds by its key; null if no request can have it as its target. */
  public static @Nullable PurgeTarget url(String uri) {
    return CacheKey.find(uri) == null
        ? null
        : new PurgeTarget(Scope.URL, List.of(uri), List.of(), Tags.NONE);
  }

  /** All URIs that begin with that one, octet by octet; null if no URI can. */
  public static @Nullable PurgeTarget prefix(String uri) {
    String normal = NormalUri.of(uri);
    return normal == null ? null : prefix(Scope.PREFIX, uri, List.of(normal));
  }

  /**
   * All http and https URIs that begin so: {@code //host/path} at that host, {@code /path} at any;
   * null if no URI can.
   */
  public static @Nullable PurgeTarget relativePrefix(String reference) {
    boolean hasHost = reference.startsWith("//");
    String plain = NormalUri.of((hasHost ? "http:" : "http://host") + reference);
    String secure = NormalUri.of((hasHost ? "https:" : "https://host") + reference);
    return !reference.startsWith("/") || plain == null || secure == null
        ? null
        : prefix(Scope.PREFIX, reference, hasHost ? List.of(plain, secure) : List.of(reference));
  }

  private static PurgeTarget prefix(Scope kind, String name, List<String> prefixes) {
    return new PurgeTarget(kind, List.of(name), prefixes, Tags.NONE);
  }

  /** Whether a normal URI begins with a prefix, or its path with one that is a path. */
  static boolean begins(String normalUri, String prefix) {
    return prefix.startsWith("/")
        ? normalUri.startsWith(prefix, normalUri.indexOf('/', "https://".length()))
        : normalUri.startsWith(prefix);
  }

  /** All URIs of a host with an optional port, by both schemes; null if it is none. */
  public static @Nullable PurgeTarget host(String authority) {
    boolean isAuthority = authority.indexOf('/') < 0 && authority.indexOf('?') < 0;
    PurgeTarget all = isAuthority ? relativePrefix("//" + authority) : null;
    return all == null ? null : prefix(Scope.HOST, authority, all.prefixes);
  }

  /** All that has one of these tags. */
  public static PurgeTarget tags(List<String> tags) {
    return new PurgeTarget(Scope.TAG, tags, List.of(), Tags.named(tags));
  }

  /** The same, and responses whose tags are not known ({@link Tags#ANY}). */
  public PurgeTarget orAny() {
    if (kind != Scope.TAG) {
      return this;
    }
    List<String> all = new ArrayList<>(names);
    all.add(Tags.ANY);
    return new PurgeTarget(kind, names, prefixes, Tags.named(all));
  }

  /** What the answer to this unsafe request makes invalid, by its groups; of very many, all. */
  public static PurgeTarget groups(RequestHead request, List<String> groups) {
    if (groups.size() > Tags.LIMIT) {
      return originOf(request);
    }
    List<String> names = new ArrayList<>(groups);
    names.addFirst(NormalUri.originOf(request));
    return new PurgeTarget(Scope.GROUP, names, List.of(), Tags.groups(request, groups));
  }

  /** Everything of the origin that the request went to. */
  public static PurgeTarget originOf(RequestHead request) {
    String origin = NormalUri.originOf(request);
    return new PurgeTarget(Scope.GROUP, List.of(origin), List.of(origin), Tags.NONE);
  }

  /** Everything: every URI begins with nothing. */
  public static PurgeTarget all() {
    return new PurgeTarget(Scope.ALL, List.of(), List.of(""), Tags.NONE);
  }

  /** Whether it is about a response with that normal URI and these tags. */
  public boolean matches(@Nullable String normalUri, Tags ofResponse) {
    return prefixes.stream().anyMatch(prefix -> normalUri == null || begins(normalUri, prefix))
        || !Collections.disjoint(bits(tags), bits(ofResponse));
  }

  private static Set<Long> bits(Tags tags) {
    Set<Long> bits = new TreeSet<>();
    for (int i = 0; i < tags.size(); i++) {
      bits.add(tags.at(i));
    }
    return bits;
  }

  /**
   * What people are to see of it, in some {@value #SHOWN_LENGTH} characters: it matches nothing.
   */
  PurgeTarget forPeople() {
    return new PurgeTarget(kind, List.of(shown()), List.of(), Tags.NONE);
  }

  /** The names in a line, cut behind {@value #SHOWN_LENGTH} characters. */
  public String shown() {
    String all = String.join(" ", names);
    return all.length() <= SHOWN_LENGTH ? all : all.substring(0, SHOWN_LENGTH) + "…";
  }
}
