package io.kamille.perf.lab;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.perf.lab.SendBufferSplit.Connection;
import org.junit.jupiter.api.Test;

class SendBufferSplitTest {

  @Test
  void smallDemandsLeaveToOthersEqually() {
    assertThat(SendBufferSplit.share(new long[] {400, 10, 4000}, 600))
        .containsExactly(295, 10, 295);
  }

  @Test
  void whatNobodyWantsGoesToAllEqually() {
    assertThat(SendBufferSplit.share(new long[] {10, 50}, 100)).containsExactly(30, 70);
    assertThat(SendBufferSplit.share(new long[4], 100)).containsExactly(25, 25, 25, 25);
  }

  @Test
  void ssTellsWhoseSocketItIs() {
    String text =
        "0 0 [::ffff:10.77.0.1]:8080 [::ffff:10.78.1.7]:39403 users:((\"java\",pid=127,fd=52))"
            + " cubic wscale:10,10 rtt:0.01/0.005 mss:1448 pmtu:1500 rcvmss:536 cwnd:10"
            + " bytes_sent:5\n"
            + "0 0 10.77.0.1:8080 10.78.2.1:2 users:((\"java\",pid=127,fd=53)) cubic mss:536"
            + " cwnd:2\n";
    assertThat(SendBufferSplit.parse(text))
        .containsExactly(
            new Connection("10.78.1.7", 127, 52, 14_480),
            new Connection("10.78.2.1", 127, 53, 1072));
  }
}
