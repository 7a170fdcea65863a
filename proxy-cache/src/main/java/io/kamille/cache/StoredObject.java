package io.kamille.cache;

import io.kamille.cache.decision.ShownText;
import io.kamille.cache.rules.CacheControl;
import io.kamille.cache.rules.ReuseRule;
import io.kamille.cache.rules.StoredFacts;
import io.kamille.cache.store.StoredResponse;
import io.kamille.core.http.FieldName;
import io.kamille.core.http.Fields;
import io.kamille.core.http.RequestHead;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One stored response as an operator sees it, in the words of the API: a copy made at one moment.
 * Immutable; any thread.
 *
 * @param status its status code
 * @param state whether its lifetime exceeds its age (RFC 9111 §4.2)
 * @param decision what a GET with no fields but its selecting ones would get: the token of a {@link
 *     io.kamille.cache.rules.Decision}
 * @param ageSeconds {@code current_age} (§4.2.3)
 * @param ttlSeconds what is left of its lifetime, negative once stale (RFC 9211 §2.4)
 * @param freshness its lifetime and where that comes from
 * @param noCache it is validated always (§5.2.2.4)
 * @param mustRevalidate it is validated once stale: must-revalidate or proxy-revalidate (§5.2.2.2,
 *     §5.2.2.8)
 * @param staleWhileRevalidateSeconds RFC 5861 §3; 0 for none
 * @param staleIfErrorSeconds RFC 5861 §4; 0 for none
 * @param tier where its octets lie
 * @param hits answers made of it without asking the origin first, since its content came; a few may
 *     be missing when several loops answered at the same moment
 * @param bytes what it takes
 * @param selectedBy the request fields it was selected by, with what they were
 * @param etag its entity tag, or null
 * @param lastModified its last-modified date as it came, or null
 * @param contentType as it came, or null
 * @param coding its content coding as it came, or null
 * @param forms its content as it was compressed here, the shortest first
 */
public record StoredObject(
    int status,
    Staleness state,
    String decision,
    int ageSeconds,
    int ttlSeconds,
    Lifetime freshness,
    boolean noCache,
    boolean mustRevalidate,
    int staleWhileRevalidateSeconds,
    int staleIfErrorSeconds,
    String tier,
    int hits,
    Size bytes,
    List<SelectedBy> selectedBy,
    @Nullable String etag,
    @Nullable String lastModified,
    @Nullable String contentType,
    @Nullable String coding,
    List<Form> forms) {

  public StoredObject {
    selectedBy = List.copyOf(selectedBy);
    forms = List.copyOf(forms);
  }

  private static final RequestHead PLAIN_GET = RequestHead.of("GET", "http://localhost/");

  /** Whether it may be used as it is. */
  public enum Staleness {
    FRESH,
    STALE
  }

  /**
   * For how long it may be used as it is, and what said so.
   *
   * @param source the token of a {@link io.kamille.cache.rules.Freshness.Source}
   */
  public record Lifetime(int lifetimeSeconds, String source) {}

  /**
   * A request field that selects a response.
   *
   * @param field its name in lower case
   * @param value what it was in the request that was answered, or null if it was absent
   */
  public record SelectedBy(String field, @Nullable String value) {}

  /**
   * A coded form of the content (RFC 9110 §8.4).
   *
   * @param coding the content coding
   * @param contentBytes its octets
   */
  public record Form(String coding, long contentBytes) {}

  /**
   * What a stored response takes, in octets, with its coded forms where nothing else is said.
   *
   * @param head target URI and field lines as it came
   * @param content as it came
   * @param occupied of its tier, with what rounding wastes
   */
  public record Size(long head, long content, long occupied) {}

  /** The caller holds a lease. */
  static StoredObject of(StoredResponse response, long now) {
    StoredFacts facts = response.facts();
    Fields fields = response.head().fields();
    return new StoredObject(
        response.status(),
        facts.isFresh(now) ? Staleness.FRESH : Staleness.STALE,
        ReuseRule.of(PLAIN_GET, CacheControl.NONE, facts, now)
            .decision(CacheControl.NONE, facts)
            .token(),
        facts.ageSeconds(now),
        facts.ttlSeconds(now),
        new Lifetime(facts.freshness().lifetimeSeconds(), facts.freshness().source().token()),
        facts.rules().isValidatedAlways(),
        facts.rules().isValidatedOnceStale(),
        facts.rules().staleWhileRevalidateSeconds(),
        facts.rules().staleIfErrorSeconds(),
        "memory",
        response.hits(),
        new Size(response.headLength(), response.contentLength(), response.occupiedBytes()),
        selectedBy(response),
        ShownText.cutIfAny(facts.entityTag()),
        facts.lastModifiedText(),
        ShownText.cutIfAny(fields.joined(FieldName.CONTENT_TYPE)),
        ShownText.cutIfAny(fields.joined(FieldName.CONTENT_ENCODING)),
        forms(response));
  }

  private static List<Form> forms(StoredResponse response) {
    return response.forms().all().stream()
        .map(form -> new Form(form.coding().token(), form.response().contentLength()))
        .toList();
  }

  private static List<SelectedBy> selectedBy(StoredResponse response) {
    List<SelectedBy> selectedBy = new ArrayList<>();
    response
        .selecting()
        .values()
        .forEach(
            (name, value) -> selectedBy.add(new SelectedBy(name, ShownText.value(name, value))));
    return selectedBy;
  }
}
