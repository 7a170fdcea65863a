package io.kamille.cache.rules;

import io.kamille.core.http.FieldName;
import io.kamille.core.http.Fields;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.ResponseHead;
import java.util.HashSet;
import java.util.Locale;
import java.util.Set;

/**
 * A stored response with the fields that a 304, or a 200 to HEAD, brings (RFC 9111 §3.2, §4.3.4,
 * §4.3.5).
 *
 * @param head status code and fields to store from now on
 * @param facts what to decide by from now on
 * @param selecting what {@code Vary} names from now on, with the values of the request that the
 *     update answers
 * @param storability whether it may stay in the store; if not, it answers this request and no other
 */
public record Freshening(
    ResponseHead head, StoredFacts facts, SelectingFields selecting, Storability storability) {

  /*
   * Every field of the new response replaces all stored lines of its name, but for those that are
   * never stored (§3.1), Content-Length, and Content-Range, which is processed and removed. Content
   * is stored as it came, so nothing else depends on a field, and Content-Type and Content-Encoding
   * are replaced like any other.
   *
   * Age and Date tell of the validation, not of the response first stored: without its own Date the
   * new response has the time it was received, and a stored Age is forgotten.
   */
  private static final Set<String> NEVER_UPDATED = Set.of("content-length", "content-range");

  /**
   * The stored response brought up to date.
   *
   * @param request the request that the update answers
   * @param stored as it lies in the store; not changed
   * @param update the 304 or the response to HEAD, which {@link Validators} found to be about it
   * @param requestTime when the validation was sent, in epoch seconds
   * @param responseTime when its answer was received, in epoch seconds
   */
  public static Freshening of(
      RequestHead request,
      ResponseHead stored,
      ResponseHead update,
      CachePolicy policy,
      VaryBy varyBy,
      long requestTime,
      long responseTime) {
    Fields news = update.fields().copy();
    StorableFields.date(news, responseTime);
    ResponseHead merged = ResponseHead.of(stored.status(), merge(stored.fields(), news));
    CacheControl control = CacheControl.ofResponse(merged.fields());
    StoredFacts facts = StoredFacts.of(merged, control, policy, requestTime, responseTime);
    boolean isAuthorized = request.isAuthenticated();
    Storability storability = Storability.of(merged, control, isAuthorized, policy, responseTime);
    SelectingFields selecting = SelectingFields.of(merged.fields(), request, varyBy);
    Fields fields = StorableFields.of(merged.fields(), control, responseTime);
    return new Freshening(ResponseHead.of(stored.status(), fields), facts, selecting, storability);
  }

  private static Fields merge(Fields stored, Fields news) {
    Set<String> excluded = StorableFields.excluded(news, CacheControl.ofResponse(news));
    excluded.addAll(NEVER_UPDATED);
    Fields update = StorableFields.without(news, excluded);
    Fields merged = StorableFields.without(stored, names(update));
    for (int i = 0; i < update.size(); i++) {
      merged.addFrom(update, i);
    }
    String age = news.first(FieldName.AGE);
    if (age != null) {
      merged.add(FieldName.AGE, age);
    }
    return merged;
  }

  private static Set<String> names(Fields fields) {
    Set<String> names = new HashSet<>();
    for (int i = 0; i < fields.size(); i++) {
      names.add(fields.nameAt(i).toLowerCase(Locale.ROOT));
    }
    return names;
  }
}
