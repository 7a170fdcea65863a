package io.kamille.launcher.fuzz;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.client.h2.TestH2Client;
import io.kamille.core.h1.FuzzBudget;
import io.kamille.launcher.appliance.Appliance;
import io.kamille.launcher.fuzz.RecordingOrigin.Seen;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Whatever a client says by HTTP/2, an origin that speaks HTTP/1.1 gets the requests of its streams
 * and no others, each in normal form. {@code ./dev fuzz exchange SECONDS} looks longer.
 */
class H2ExchangeFuzzIT {

  private static final String CLIENT = "127.0.0.1";
  private static final int STREAMS = 3;

  /** What ends a line, frames, routes or governs a connection in HTTP/1.1, or nearly so. */
  private static final String[] SPOILS = {
    "\r\n",
    "\n",
    "\r",
    "\0",
    " ",
    "\t",
    ":",
    ";",
    ",",
    "#",
    "?",
    "/",
    "%",
    "\u00e9",
    "\u007f",
    "0",
    "\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n",
    " HTTP/1.1\r\nX: ",
    "chunked",
    "5",
    "GET",
    "A",
    "@",
    "[",
    ":80",
    "*",
    "http://b/",
    "..",
    ""
  };

  private static final String[][] FIELDS = {
    {"content-length", "5"},
    {"content-length", "0"},
    {"transfer-encoding", "chunked"},
    {"connection", "close"},
    {"te", "trailers"},
    {"te", "gzip"},
    {"host", "a"},
    {"host", "b"},
    {"expect", "100-continue"},
    {"upgrade", "websocket"},
    {"content_length", "7"},
    {"cookie", "a=b"},
    {"x-a", "b"},
    {":path", "/again"},
    {":method", "POST"},
    {":protocol", "websocket"},
    {"range", "bytes=0-1"}
  };

  private final RecordingOrigin origin;
  private final Appliance appliance;
  private final InetSocketAddress address;
  private final List<Seen> seen;

  H2ExchangeFuzzIT() throws IOException {
    origin = RecordingOrigin.open();
    seen = origin.expect(CLIENT);
    appliance = FuzzedAppliance.start("protocols: [h2c]", origin.url());
    address = FuzzedAppliance.address(appliance);
  }

  @AfterEach
  void close() throws IOException {
    appliance.close();
    origin.close();
  }

  /** What one stream says. */
  private record Said(List<String> section, String content) {

    boolean has(String name, String value) {
      for (int i = 0; i < section.size(); i += 2) {
        if (section.get(i).equals(name) && section.get(i + 1).equals(value)) {
          return true;
        }
      }
      return false;
    }

    /**
     * Whether the origin was asked for what stands here, and for nothing else. Content beyond its
     * length may show itself only when the origin has all that belongs to the request.
     */
    boolean is(Seen request) {
      String got = request.content();
      return has(":method", request.method())
          && has(":path", request.target())
          && (content.equals(got)
              || (content.startsWith(got)
                  && has("content-length", Integer.toString(got.length()))));
    }
  }

  @Test
  void theOriginGetsWhatTheStreamsSay() {
    SplittableRandom random = new SplittableRandom(FuzzBudget.SEED);
    FuzzBudget budget = new FuzzBudget(600);
    int answered = 0;
    int looked = 0;
    List<Said> before = List.of();
    while (budget.hasNext()) {
      List<Said> said = new ArrayList<>();
      try (TestH2Client client = TestH2Client.connect(address)) {
        for (int i = 0; i < STREAMS; i++) {
          Said stream = said(random, budget.round() + "-" + i);
          said.add(stream);
          client.headers(
              1 + 2 * i, stream.content().isEmpty(), stream.section().toArray(String[]::new));
          if (!stream.content().isEmpty()) {
            int cut = random.nextInt(stream.content().length());
            client.data(1 + 2 * i, stream.content().substring(0, cut), false);
            client.data(1 + 2 * i, stream.content().substring(cut), true);
          }
          answered += client.isAnswered(1 + 2 * i) ? 1 : 0;
        }
      }
      // What a stream said that was reset may come late.
      List<Said> told = new ArrayList<>(before);
      told.addAll(said);
      List<Seen> got = List.copyOf(seen.subList(looked, seen.size()));
      looked += got.size();
      assertAgrees(told, got, budget.round());
      before = said;
    }
    budget.report("HTTP/2 to HTTP/1.1, " + answered + " answered");
    assertThat(answered).isGreaterThan((int) budget.round() / 4);
  }

  /**
   * Extended CONNECT (RFC 8441): the origin gets an upgrade of HTTP/1.1 or nothing. It answers
   * otherwise here, so that what follows in the stream never reaches it.
   */
  @Test
  void theOriginGetsOneUpgradeOfAnExtendedConnect() {
    SplittableRandom random = new SplittableRandom(FuzzBudget.SEED);
    FuzzBudget budget = new FuzzBudget(400);
    int looked = 0;
    int upgrades = 0;
    while (budget.hasNext()) {
      List<String> targets = new ArrayList<>(List.of("/other"));
      List<String> said = new ArrayList<>();
      try (TestH2Client client = TestH2Client.connect(address)) {
        for (int i = 0; i < STREAMS; i++) {
          List<String> section = connect(random, "/" + budget.round() + "-" + i);
          said.addAll(section);
          section.stream().filter(word -> word.startsWith("/")).forEach(targets::add);
          client.headers(1 + 2 * i, random.nextInt(8) == 0, section.toArray(String[]::new));
          client.data(1 + 2 * i, "GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n", false);
          client.isAnswered(1 + 2 * i);
        }
      }
      try (TestH2Client other = TestH2Client.connect(address)) {
        assertThat(other.get(1, "/other").answer(1).status()).isEqualTo(200);
      }
      String what = "seed " + FuzzBudget.SEED + ", round " + budget.round() + ": " + said;
      List<Seen> got = List.copyOf(seen.subList(looked, seen.size()));
      looked += got.size();
      upgrades += got.size() - 1;
      for (Seen request : got) {
        assertThat(targets).as(what).contains(request.target());
        assertThat(request.method()).as(what).isEqualTo("GET");
        assertThat(request.content()).as(what).isEmpty();
      }
      assertThat(got).as(what).hasSizeLessThanOrEqualTo(STREAMS + 1);
      assertThat(origin.faults()).as(what).isEmpty();
    }
    budget.report("extended CONNECT, " + upgrades + " upgrades");
    assertThat(upgrades).isPositive();
  }

  private static List<String> connect(SplittableRandom random, String target) {
    List<String> section =
        new ArrayList<>(
            List.of(
                ":method",
                "CONNECT",
                ":protocol",
                "websocket",
                ":scheme",
                "http",
                ":path",
                target,
                ":authority",
                "a",
                "sec-websocket-version",
                "13"));
    for (int i = random.nextInt(3); i > 0; i--) {
      section.addAll(List.of(FIELDS[random.nextInt(FIELDS.length)]));
    }
    for (int i = random.nextInt(2); i > 0; i--) {
      // Of a method that is spoiled nothing more than that is known: others look at those.
      int at = 2 + random.nextInt(section.size() - 2);
      String text = section.get(at);
      int where = random.nextInt(text.length() + 1);
      String spoil = SPOILS[random.nextInt(SPOILS.length)];
      section.set(at, text.substring(0, where) + spoil + text.substring(where));
    }
    return section;
  }

  private void assertAgrees(List<Said> said, List<Seen> got, long round) {
    List<Said> left = new ArrayList<>(said);
    for (Seen request : got) {
      Optional<Said> whose = left.stream().filter(each -> each.is(request)).findFirst();
      assertThat(whose)
          .as("seed %d, round %d: %s of %s", FuzzBudget.SEED, round, request, said)
          .isPresent();
      whose.ifPresent(left::remove);
    }
    assertThat(origin.faults()).as("seed %d, round %d: %s", FuzzBudget.SEED, round, said).isEmpty();
  }

  private static Said said(SplittableRandom random, String number) {
    boolean isPost = random.nextBoolean();
    List<String> section =
        new ArrayList<>(
            List.of(
                ":method",
                isPost ? "POST" : "GET",
                ":scheme",
                "http",
                ":path",
                "/" + number,
                ":authority",
                "a"));
    for (int i = random.nextInt(3); i > 0; i--) {
      section.addAll(List.of(FIELDS[random.nextInt(FIELDS.length)]));
    }
    for (int i = random.nextInt(3); i > 0; i--) {
      int at = random.nextInt(section.size());
      String text = section.get(at);
      int where = random.nextInt(text.length() + 1);
      String spoil = SPOILS[random.nextInt(SPOILS.length)];
      section.set(at, text.substring(0, where) + spoil + text.substring(where));
    }
    String content = isPost ? "0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n" : "";
    return new Said(section, content.substring(0, random.nextInt(content.length() + 1)));
  }

  /** Frames and HPACK: a connection of any octets ends, and harms nobody. */
  @Test
  void connectionsOfSpoiledFramesEnd() {
    SplittableRandom random = new SplittableRandom(FuzzBudget.SEED);
    FuzzBudget budget = new FuzzBudget(600);
    while (budget.hasNext()) {
      byte[] octets = frames(random);
      for (int i = random.nextInt(4); i >= 0; i--) {
        octets[random.nextInt(octets.length)] = (byte) random.nextInt();
      }
      try (TestH2Client client = TestH2Client.connect(address)) {
        client.raw(octets).flush();
        client.closeOutput();
        client.awaitEnd();
      }
      assertThat(origin.faults()).as("seed %d, %d", FuzzBudget.SEED, budget.round()).isEmpty();
    }
    budget.report("spoiled frames");
    try (TestH2Client other = TestH2Client.connect(address)) {
      assertThat(other.get(1, "/other").answer(1).status()).isEqualTo(200);
    }
  }

  /** Some frames of every type. */
  private static byte[] frames(SplittableRandom random) {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    byte[] get =
        TestH2Client.section(
            ":method", "GET", ":scheme", "http", ":path", "/f", ":authority", "a", "x", "y");
    byte[] indexed = {(byte) 0x82, (byte) 0x86, (byte) 0x84, 0x41, 1, 'a', 0x40, 1, 'b', 1, 'c'};
    for (int i = 0; i < 8; i++) {
      int stream = 1 + 2 * random.nextInt(4);
      switch (random.nextInt(9)) {
        case 0 -> frame(all, TestH2Client.HEADERS, 5, stream, get);
        case 1 -> frame(all, TestH2Client.HEADERS, 4, stream, indexed);
        case 2 -> frame(all, TestH2Client.DATA, random.nextInt(2), stream, new byte[20]);
        case 3 -> frame(all, TestH2Client.SETTINGS, 0, 0, new byte[] {0, 4, 0, 0, 0, 9});
        case 4 -> frame(all, TestH2Client.WINDOW_UPDATE, 0, stream, new byte[] {0, 0, 1, 0});
        case 5 -> frame(all, TestH2Client.RST_STREAM, 0, stream, new byte[4]);
        case 6 -> frame(all, TestH2Client.HEADERS, 1, stream, indexed);
        case 7 -> frame(all, TestH2Client.CONTINUATION, 4, stream, get);
        default -> frame(all, TestH2Client.PING, 0, 0, new byte[8]);
      }
    }
    return all.toByteArray();
  }

  private static void frame(
      ByteArrayOutputStream out, int type, int flags, int stream, byte... payload) {
    out.writeBytes(
        new byte[] {
          0,
          (byte) (payload.length >> 8),
          (byte) payload.length,
          (byte) type,
          (byte) flags,
          0,
          0,
          0,
          (byte) stream
        });
    out.writeBytes(payload);
  }
}
