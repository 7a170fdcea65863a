package io.kamille.cache.rules;

import io.kamille.core.http.AcceptedCodings;
import io.kamille.core.http.ContentCoding;
import io.kamille.core.http.EntityTag;
import io.kamille.core.http.FieldName;
import io.kamille.core.http.Fields;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.ResponseHead;
import io.kamille.core.http.StatusCode;
import io.kamille.core.http.StreamType;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Which responses a route gives content codings, and what their heads say then. Immutable; any
 * thread.
 *
 * @param codings those to make; none if the route makes none
 * @param types media types as {@link #isType} has them
 * @param leastBytes the shortest content worth it
 * @param mostBytes the longest content
 * @param withSetCookie whether responses with {@code Set-Cookie} are coded on their way
 */
public record CompressionRules(
    List<ContentCoding> codings,
    List<String> types,
    long leastBytes,
    long mostBytes,
    boolean withSetCookie) {

  /*
   * The coded form is another representation of the resource (RFC 9110 §8.8.3): what tells of the
   * octets of the one it was made from is left out or weakened. A message that is signed (RFC 9421)
   * is left as it came.
   */
  public static final CompressionRules OFF =
      new CompressionRules(List.of(), List.of(), 0, 0, false);

  private static final Set<String> OF_THE_OCTETS =
      Set.of("accept-ranges", "content-digest", "content-md5", "digest", "repr-digest");

  private static final Pattern TYPE =
      Pattern.compile("[\\w!#$&^.+-]+/(?:[\\w!#$&^.+-]+\\*?|\\*)[\\w!#$&^.+-]*");

  private static final String ACCEPT_ENCODING = "accept-encoding";

  public CompressionRules {
    codings = List.copyOf(codings);
    types = types.stream().map(type -> type.toLowerCase(Locale.ROOT)).toList();
  }

  public boolean isOn() {
    return !codings.isEmpty();
  }

  /**
   * Whether a media type can be listed: {@code type/subtype}, where one {@code *} stands for
   * anything: {@code text/*}, {@code application/*+json}.
   */
  public static boolean isType(String text) {
    return TYPE.matcher(text).matches();
  }

  /**
   * Whether a storable response to GET is one to code, as far as its head tells.
   *
   * @param contentLength octets of content, or a negative number if nobody knows yet
   */
  public boolean isCodable(ResponseHead head, long contentLength) {
    Fields fields = head.fields();
    return isOn()
        && head.status() == StatusCode.OK
        && !fields.has(FieldName.CONTENT_ENCODING)
        && !fields.has(FieldName.CONTENT_RANGE)
        && (contentLength < 0 || isLength(contentLength))
        && isListed(fields.first(FieldName.CONTENT_TYPE))
        && fields.all("signature").isEmpty()
        && !isNoTransform(fields);
  }

  /**
   * Whether a response that one client waits for is one to code. A stream must not wait for a
   * coder. A page with a secret beside text of the request's would tell it by its length (BREACH,
   * Prado, Harris and Gluck, 2013); {@code Set-Cookie} is a sign of a page for one client.
   *
   * @param getsCookie whether the client gets a cookie that the head does not tell of
   */
  private boolean isCodableOnTheWay(ResponseHead head, long contentLength, boolean getsCookie) {
    return isCodable(head, contentLength)
        && !StreamType.is(head.fields())
        && (withSetCookie || !(getsCookie || head.fields().has(FieldName.SET_COOKIE)));
  }

  /**
   * Has the head of a response on its way say that its content depends on {@code Accept-Encoding},
   * where it does; the coding that the content is to get, or null for none.
   *
   * @param getsCookie whether the client gets a cookie that the head does not tell of
   */
  public @Nullable ContentCoding choose(
      RequestHead request, ResponseHead head, long contentLength, boolean getsCookie) {
    if (isOn() && head.status() == StatusCode.NOT_MODIFIED) {
      weakenAsAsked(request.fields(), head.fields());
    } else if (isCodableOnTheWay(head, contentLength, getsCookie)) {
      addVary(head.fields());
      return onTheWay(request.fields());
    }
    return null;
  }

  /** The quick coding that a request likes best, or null if it likes none. */
  public @Nullable ContentCoding onTheWay(Fields request) {
    var quick = codings.stream().filter(coding -> coding != ContentCoding.BR);
    return best(request, quick.toArray(ContentCoding[]::new), coding -> coding);
  }

  /**
   * The form that a request likes best, of several the first; null if it likes best what has no
   * coding (RFC 9110 §12.5.3). Makes no garbage but for a request with cache directives.
   *
   * @param coding which coding a form has
   */
  public static <T> @Nullable T best(Fields request, T[] forms, Function<T, ContentCoding> coding) {
    if (forms.length == 0
        || !request.has(FieldName.ACCEPT_ENCODING)
        || CacheControl.ofRequest(request).has(Directive.NO_TRANSFORM)) {
      return null;
    }
    long accepted = AcceptedCodings.of(request);
    T chosen = null;
    int best = AcceptedCodings.identityWeight(accepted);
    for (T form : forms) {
      int weight = AcceptedCodings.weight(accepted, coding.apply(form));
      if (weight > best || (weight == best && weight > 0 && chosen == null)) {
        chosen = form;
        best = weight;
      }
    }
    return chosen;
  }

  /** Whether content that long is coded. */
  public boolean isLength(long contentLength) {
    return contentLength >= leastBytes && contentLength <= mostBytes;
  }

  private boolean isListed(@Nullable String contentType) {
    if (contentType == null) {
      return false;
    }
    int semicolon = contentType.indexOf(';');
    String type = semicolon < 0 ? contentType : contentType.substring(0, semicolon);
    String lower = type.strip().toLowerCase(Locale.ROOT);
    return types.stream().anyMatch(listed -> matches(listed, lower));
  }

  private static boolean matches(String listed, String type) {
    int star = listed.indexOf('*');
    if (star < 0) {
      return listed.equals(type);
    }
    String end = listed.substring(star + 1);
    return type.length() >= listed.length() - 1
        && type.startsWith(listed.substring(0, star))
        && type.endsWith(end);
  }

  /** RFC 9110 §7.7; the plain field counts beside a targeted one, it concerns everybody. */
  private static boolean isNoTransform(Fields response) {
    String plain = response.joined(FieldName.CACHE_CONTROL);
    return (plain != null && CacheControl.parse(plain).has(Directive.NO_TRANSFORM))
        || CacheControl.ofResponse(response).has(Directive.NO_TRANSFORM);
  }

  /** Has a response say that its content depends on {@code Accept-Encoding} (RFC 9110 §12.5.5). */
  public static void addVary(Fields response) {
    if (!VaryField.names(response).contains(ACCEPT_ENCODING)) {
      response.add(FieldName.VARY, FieldName.ACCEPT_ENCODING.text());
    }
  }

  /** The head of the coded form of a response whose head is {@code uncoded}, which stays. */
  public static ResponseHead coded(ResponseHead uncoded, ContentCoding coding) {
    Fields fields = uncoded.fields().copy();
    code(fields, coding);
    return ResponseHead.of(uncoded.status(), fields);
  }

  /** Makes the head of a response on its way that of its coded form. */
  public static void code(Fields response, ContentCoding coding) {
    response.remove(FieldName.CONTENT_LENGTH);
    removeOfTheOctets(response);
    weaken(response);
    response.add(FieldName.CONTENT_ENCODING, coding.token());
  }

  /** Removes what tells of the octets of the form without coding. */
  public static void removeOfTheOctets(Fields fields) {
    OF_THE_OCTETS.forEach(fields::remove);
  }

  /** Has a 304 tell the weak tag if that is the one that was asked about (RFC 9110 §15.4.5). */
  private static void weakenAsAsked(Fields request, Fields response) {
    String tag = response.first(FieldName.ETAG);
    String asked = request.joined(FieldName.IF_NONE_MATCH);
    if (tag != null && asked != null && asked.contains(weak(tag))) {
      weaken(response);
    }
  }

  private static void weaken(Fields response) {
    String tag = response.first(FieldName.ETAG);
    if (tag != null && EntityTag.isValid(tag)) {
      response.set(FieldName.ETAG, weak(tag));
    }
  }

  /** The tag as a weak one: several representations have it (RFC 9110 §8.8.1). */
  static String weak(String tag) {
    return EntityTag.isWeak(tag) ? tag : "W/" + tag;
  }
}
