package io.kamille.launcher.fuzz;

import io.kamille.core.h1.Corpus;
import io.kamille.launcher.fuzz.Answers.Answer;
import io.kamille.launcher.fuzz.ExchangeFuzz.Tally;
import io.kamille.launcher.fuzz.RecordingOrigin.Plan;
import io.kamille.launcher.fuzz.SecondReading.Message;
import io.kamille.launcher.fuzz.Wire.Conversation;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Some spoiled responses, a sound one behind each, and what the store makes of them. Confined to
 * one thread.
 */
final class ResponseRound implements ExchangeFuzz.Round {

  private static final String SOUND = get("/sound");
  private static final List<String> RESPONSES =
      Stream.concat(
              Corpus.RESPONSES.stream(), Corpus.RESPONSES.stream().map(ResponseRound::storable))
          .toList();

  private static final int LIMIT = 6;

  /** One spoiled response, what Netty makes of it, and where it is asked for. */
  private record Spoiled(String target, String octets, SecondReading second) {

    /** Then its framing fields say nothing (RFC 9112 §6.3). Netty looks at them first. */
    boolean endsWithItsHead() {
      return second.fault().contains("Content-Length") && NO_CONTENT.matcher(octets).lookingAt();
    }
  }

  private static final Pattern NO_CONTENT = Pattern.compile("\\s*HTTP/1\\.\\d (1\\d\\d|204|304)");

  private final Wire wire;
  private final RecordingOrigin origin;
  private final List<Spoiled> all = new ArrayList<>();
  private final SplittableRandom pieces;

  /**
   * A round of its own.
   *
   * @param number which no other round has
   */
  ResponseRound(Wire wire, RecordingOrigin origin, SplittableRandom random, long number) {
    this.wire = wire;
    this.origin = origin;
    for (int i = random.nextInt(LIMIT); i >= 0; i--) {
      String target = "/spoiled/" + number + "/" + i;
      String octets = Corpus.mutant(RESPONSES, random);
      all.add(new Spoiled(target, octets, SecondReading.ofResponses(octets, true)));
      boolean mayStayOpen = SecondReading.ofResponses(octets, false).finalResponse() != null;
      origin.plan(target, new Plan(octets, !mayStayOpen || random.nextBoolean()));
    }
    pieces = random.split();
  }

  private static String storable(String response) {
    return response.replaceFirst("\r\n", "\r\nCache-Control: max-age=60\r\n");
  }

  private static String get(String target) {
    return "GET " + target + " HTTP/1.1\r\nHost: z\r\n\r\n";
  }

  @Override
  public String disagreement(Tally tally) throws IOException {
    StringBuilder asked = new StringBuilder();
    StringBuilder askedAgain = new StringBuilder(SOUND);
    for (Spoiled spoiled : all) {
      asked.append(get(spoiled.target())).append(SOUND);
      askedAgain.append(get(spoiled.target()));
    }
    Conversation said = wire.say(asked.toString(), pieces);
    all.forEach(spoiled -> origin.unplan(spoiled.target()));
    String fault = fault(said, tally);
    if (!fault.isEmpty()) {
      return ExchangeFuzz.shown(fault, all.toString(), said, "");
    }
    Conversation again = wire.say(askedAgain.toString(), pieces);
    fault = faultAgain(again);
    return fault.isEmpty()
        ? ""
        : ExchangeFuzz.shown(fault, all.toString(), said, "asked again <<" + again.got() + ">>");
  }

  private String fault(Conversation said, Tally tally) {
    Answers answers = Answers.of(said.got(), n -> "GET");
    if (!answers.fault().isEmpty()) {
      return "an answer not in normal form: " + answers.fault();
    }
    List<Answer> list = answers.list();
    for (int i = 0; i < Math.min(list.size(), 2 * all.size()); i++) {
      Spoiled spoiled = all.get(i / 2);
      String fault =
          i % 2 == 0
              ? fault(spoiled, list.get(i), tally)
              : isSound(list.get(i), said, i / 2) ? "" : "an unsound answer";
      if (!fault.isEmpty()) {
        return fault + ", behind or to " + spoiled.target();
      }
    }
    if (list.size() == 2 * all.size() || said.wasReset()) {
      return "";
    }
    return mayEndBehind(list) ? "" : list.size() + " answers";
  }

  /** Whether the proxy had a reason to answer no more. */
  private boolean mayEndBehind(List<Answer> answers) {
    int count = answers.size();
    if (count >= 2 * all.size()) {
      return false;
    }
    if (count % 2 == 0 && all.get(count / 2).second().finalResponse() == null) {
      // Broken off before the client had read the beginning.
      return true;
    }
    return count > 0 && (answers.getLast().closes() || !answers.getLast().isComplete());
  }

  private static String fault(Spoiled spoiled, Answer answer, Tally tally) {
    SecondReading second = spoiled.second();
    tally.exchanges++;
    Message meant = second.finalResponse();
    if (answer.isOurs()) {
      tally.refused++;
    } else if (!answer.isComplete()) {
      tally.broken++;
    } else if (meant == null) {
      return second.isStricter() || spoiled.endsWithItsHead()
          ? ""
          : "a complete answer where Netty sees none";
    } else if (meant.status() != answer.status() || !meant.content().equals(answer.content())) {
      return "another answer than Netty sees";
    } else {
      tally.passed++;
    }
    return "";
  }

  private static boolean isSound(Answer answer, Conversation said, int number) {
    return answer.isComplete() && (said.client() + "/" + number).equals(answer.echo());
  }

  private String faultAgain(Conversation again) {
    Answers answers = Answers.of(again.got(), n -> "GET");
    if (!answers.fault().isEmpty() || answers.list().size() != 1 + all.size()) {
      return "not all answers in normal form when asked again: " + answers.fault();
    }
    if (!isSound(answers.list().getFirst(), again, 0)) {
      return "an unsound answer when asked again";
    }
    int echoes = 1;
    for (int i = 0; i < all.size(); i++) {
      Answer answer = answers.list().get(i + 1);
      String fault =
          answer.isHit()
              ? storedFault(all.get(i), answer)
              : isSound(answer, again, echoes++) ? "" : "an unsound answer when asked again";
      if (!fault.isEmpty()) {
        return fault + ", to " + all.get(i).target();
      }
    }
    return "";
  }

  /** Whether the store kept something else than the whole of a complete response. */
  private static String storedFault(Spoiled spoiled, Answer answer) {
    SecondReading second = spoiled.second();
    Message meant = second.finalResponse();
    if (meant == null && (second.isStricter() || spoiled.endsWithItsHead())) {
      return "";
    }
    boolean isSame =
        meant != null
            && answer.isComplete()
            && answer.status() == meant.status()
            && Objects.equals(answer.content(), meant.content());
    return isSame ? "" : "stored: " + answer;
  }
}
