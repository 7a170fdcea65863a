package io.kamille.cache;

import io.kamille.cache.StoredObject.Form;
import io.kamille.cache.StoredObject.SelectedBy;
import io.kamille.cache.decision.ShownText;
import io.kamille.cache.key.CacheKey;
import io.kamille.cache.removal.RouteQueries;
import io.kamille.cache.rules.CacheControl;
import io.kamille.cache.rules.ReusePlanner;
import io.kamille.cache.rules.StoredFacts;
import io.kamille.cache.store.StoredResponse;
import io.kamille.cache.store.Variants;
import io.kamille.cache.tiers.TieredStore;
import io.kamille.core.http.FieldName;
import io.kamille.core.http.Fields;
import io.kamille.core.http.RequestHead;
import io.kamille.core.loop.WallClock;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** What lies in the cache, for an operator who asks. Changes nothing; any thread. */
public final class CacheContents {

  private static final RequestHead PLAIN_GET = RequestHead.of("GET", "http://localhost/");

  private final TieredStore store;
  private final RouteQueries queries;
  private final WallClock clock;

  CacheContents(TieredStore store, RouteQueries queries, WallClock clock) {
    this.store = store;
    this.queries = queries;
    this.clock = clock;
  }

  /**
   * What is stored under a target URI, the most recent by {@code Date} first; empty if no request
   * can have that target URI ({@link CacheKey#find}).
   *
   * @param uri absolute, http or https
   */
  public Optional<List<StoredObject>> find(String uri) {
    return Optional.ofNullable(queries.keyOf(uri)).map(this::find);
  }

  private List<StoredObject> find(CacheKey key) {
    List<StoredObject> found = new ArrayList<>();
    Variants variants = store.peek(key);
    for (int i = 0; variants != null && i < variants.size(); i++) {
      StoredResponse response = variants.at(i);
      if (response.tryRetain()) {
        try {
          found.add(object(response, clock.epochSeconds()));
        } finally {
          response.release();
        }
      }
    }
    return found;
  }

  /** Needs a lease on the response. */
  private static StoredObject object(StoredResponse response, long now) {
    StoredFacts facts = response.facts();
    Fields fields = response.head().fields();
    return new StoredObject(
        response.status(),
        facts.isFresh(now) ? StoredObject.State.FRESH : StoredObject.State.STALE,
        ReusePlanner.plan(PLAIN_GET, CacheControl.NONE, facts, now).token(),
        facts.ageSeconds(now),
        facts.ttlSeconds(now),
        new StoredObject.Lifetime(
            facts.freshness().lifetimeSeconds(), facts.freshness().source().token()),
        facts.rules().isValidatedAlways(),
        facts.rules().isValidatedOnceStale(),
        facts.rules().staleWhileRevalidateSeconds(),
        facts.rules().staleIfErrorSeconds(),
        "memory",
        response.hits(),
        new StoredObject.Size(
            response.headLength(), response.contentLength(), response.occupiedBytes()),
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
