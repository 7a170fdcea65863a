package io.kamille.core.origin.names;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.LinesLog;
import io.kamille.core.metric.MetricRegistry;
import io.kamille.core.origin.Origin;
import io.kamille.core.origin.UpstreamSettings;
import io.kamille.core.origin.names.NameLookup.Answer;
import io.kamille.core.setting.OriginUrl;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class OriginNamesTest {

  private static final Duration TTL = Duration.ofSeconds(42);

  private final Map<String, List<InetAddress>> known = new HashMap<>();
  private final Map<String, CompletableFuture<Answer>> late = new HashMap<>();
  private final Queue<Runnable> due = new ArrayDeque<>();
  private final List<Duration> delays = new ArrayList<>();
  private final MetricRegistry registry = new MetricRegistry();
  private final List<String> told = new ArrayList<>();
  private final OriginNames names =
      new OriginNames(this::find, this::after, registry, () -> {}, new LinesLog(told));
  private @Nullable Error fault;
  private final Origin origin =
      UpstreamSettings.DEFAULTS.origin(new OriginUrl(false, "origin.test", 80), 1);

  @Test
  void aNameIsLookedUpBeforeTheFirstRequest() {
    known.put("origin.test", addresses(1));
    names.watch(List.of(origin));
    assertThat(origin.address()).isEqualTo(address(1));
  }

  @Test
  void anUnknownNameHasNoAddress() {
    names.watch(List.of(origin));
    assertThat(origin.address()).isNull();
  }

  @Test
  void aNewAddressIsTakenAndALostNameKeepsTheOldOne() {
    known.put("origin.test", addresses(1));
    names.watch(List.of(origin));
    known.put("origin.test", addresses(2));
    lookAgain();
    assertThat(origin.address()).isEqualTo(address(2));
    known.clear();
    lookAgain();
    assertThat(origin.address()).isEqualTo(address(2));
  }

  @Test
  void anAddressIsTheOriginsUntilThreeLookUpsOnEndHaveNotNamedIt() {
    lookUp(1);
    lookUp(2);
    lookUp(2);
    assertThat(origin.isAt(address(1))).isTrue();
    lookUp(2);
    assertThat(origin.isAt(address(1))).isFalse();
    assertThat(origin.isAt(address(2))).isTrue();
  }

  @Test
  void ofThousandsOfAddressesTheFirstCount() {
    known.put("origin.test", Collections.nCopies(10_000, InetAddress.getLoopbackAddress()));
    names.watch(List.of(origin));
    assertThat(origin.addresses()).hasSize(Origin.MOST_ADDRESSES);
  }

  @Test
  void addressesThatAreNotUsedAreToldOnce() {
    known.put("origin.test", addresses(IntStream.rangeClosed(1, 64).toArray()));
    names.watch(List.of(origin));
    assertThat(told).isEmpty();
    for (int most : new int[] {65, 64, 66, 200}) {
      known.put("origin.test", addresses(IntStream.rangeClosed(1, most).toArray()));
      lookAgain();
    }
    assertThat(origin.addresses()).hasSize(64);
    assertThat(told).singleElement().asString().contains("origin.test has 65 addresses", "64 are");
  }

  @Test
  void aFamilyThatLeadsNowhereCostsOneAttempt() throws Exception {
    InetAddress six = InetAddress.getByName("2001:db8::1");
    known.put("origin.test", List.of(six, six, addresses(1).getFirst(), six));
    names.watch(List.of(origin));
    origin.passOver(new InetSocketAddress(six, 80));
    assertThat(origin.address()).isEqualTo(address(1));
    assertThat(origin.addresses()).hasSize(4);
  }

  @Test
  void noFamilyCrowdsTheOtherOut() throws Exception {
    List<InetAddress> lies =
        new ArrayList<>(Collections.nCopies(10_000, InetAddress.getByName("2001:db8::1")));
    lies.addAll(addresses(1));
    known.put("origin.test", lies);
    names.watch(List.of(origin));
    assertThat(origin.isAt(address(1))).isTrue();
  }

  @Test
  void aLookUpThatFailsForgetsNothing() {
    lookUp(1);
    lookUp(2);
    known.clear();
    lookAgain();
    lookAgain();
    lookAgain();
    assertThat(origin.isAt(address(1))).isTrue();
  }

  @Test
  void aNameThatTellsAPartOfItsAddressesAtATimeHasAllOfThem() {
    lookUp(1, 2);
    lookUp(3, 4);
    lookUp(5, 6);
    for (int round = 0; round < 10; round++) {
      lookUp(1, 2);
      assertThat(origin.address()).as("what is named now").isIn(address(1), address(2));
      lookUp(3, 4);
      lookUp(5, 6);
      for (int last = 1; last <= 6; last++) {
        assertThat(origin.isAt(address(last))).isTrue();
      }
    }
  }

  @Test
  void aNameIsLookedUpAgainWhenItsAnswerHasRunOut() {
    lookUp(1);
    lookUp(2);
    assertThat(delays).containsExactly(TTL, TTL);
  }

  @Test
  void aFailedLookUpIsCountedAndSoonTriedAgain() {
    names.watch(List.of(origin));
    lookAgain();
    assertThat(delays).containsExactly(OriginNames.AFTER_FAILURE, OriginNames.AFTER_FAILURE);
    assertThat(failed()).isEqualTo(2);
    known.put("origin.test", addresses(1));
    lookAgain();
    assertThat(origin.address()).isEqualTo(address(1));
    assertThat(failed()).isEqualTo(2);
  }

  @Test
  void aFaultWithinALookUpIsAFailureAndNotTheLastLookUp() {
    lookUp(1);
    fault = new InternalError("for a moment");
    lookAgain();
    fault = null;
    lookUp(2);
    assertThat(origin.address()).isEqualTo(address(2));
    assertThat(failed()).isOne();
    assertThat(told).first().asString().contains("for a moment");
  }

  @Test
  void anAddressNeedsNoLookUp() {
    Origin literal = UpstreamSettings.DEFAULTS.origin(new OriginUrl(false, "127.0.0.1", 80), 1);
    Origin sixth = UpstreamSettings.DEFAULTS.origin(new OriginUrl(false, "::1", 80), 1);
    names.watch(List.of(literal, sixth));
    assertThat(literal.address()).isEqualTo(address(1));
    assertThat(sixth.addresses()).hasSize(1);
    assertThat(names.watched()).isEqualTo(2);
    assertThat(delays).isEmpty();
    assertThat(failed()).isZero();
  }

  @Test
  void anAnswerForAForgottenOriginChangesNothing() {
    known.put("origin.test", addresses(1));
    names.watch(List.of(origin));
    known.clear();
    CompletableFuture<Answer> answer = new CompletableFuture<>();
    late.put("origin.test", answer);
    lookAgain();
    names.forget(List.of(origin));
    answer.complete(new Answer(addresses(2), TTL));
    assertThat(origin.address()).isEqualTo(address(1));
    assertThat(names.watched()).isZero();
    assertThat(due).isEmpty();
  }

  @Test
  void anAddressThatFailedGivesWayToTheNextOnce() {
    known.put("origin.test", addresses(1, 2));
    names.watch(List.of(origin));
    origin.passOver(address(1));
    origin.passOver(address(1));
    assertThat(origin.address()).isEqualTo(address(2));
  }

  private void lookUp(int... last) {
    known.put("origin.test", addresses(last));
    if (origin.addresses().isEmpty()) {
      names.watch(List.of(origin));
    } else {
      lookAgain();
    }
  }

  /** Lets the time of the next look-up come. */
  private void lookAgain() {
    due.remove().run();
  }

  private void after(Duration delay, Runnable action) {
    delays.add(delay);
    due.add(action);
  }

  private CompletableFuture<Answer> find(String host) {
    if (fault != null) {
      throw fault;
    }
    List<InetAddress> found = known.get(host);
    if (found != null) {
      return CompletableFuture.completedFuture(new Answer(found, TTL));
    }
    return late.getOrDefault(
        host, CompletableFuture.failedFuture(new UnknownHostException(host + ": NXDOMAIN")));
  }

  private double failed() {
    return registry.read().stream()
        .filter(family -> family.descriptor().equals(OriginNames.FAILED))
        .mapToDouble(family -> family.samples().getFirst().value())
        .sum();
  }

  private static List<InetAddress> addresses(int... last) {
    return Arrays.stream(last).mapToObj(each -> address(each).getAddress()).toList();
  }

  private static InetSocketAddress address(int last) {
    return new InetSocketAddress("127.0.0." + last, 80);
  }
}
