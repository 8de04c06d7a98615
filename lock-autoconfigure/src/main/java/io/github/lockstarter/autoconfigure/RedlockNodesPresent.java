// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import java.util.List;

import org.springframework.boot.autoconfigure.condition.ConditionMessage;
import org.springframework.boot.autoconfigure.condition.ConditionOutcome;
import org.springframework.boot.autoconfigure.condition.SpringBootCondition;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.core.type.AnnotatedTypeMetadata;

/**
 * Matches if there are servers for Redlock: other conditions do not see lists.
 */
class RedlockNodesPresent extends SpringBootCondition {

	private static final String PROPERTY = "distributed-lock.redlock.nodes";

	@Override
	public ConditionOutcome getMatchOutcome(ConditionContext context, AnnotatedTypeMetadata metadata) {
		boolean present = Binder.get(context.getEnvironment())
			.bind(PROPERTY, Bindable.listOf(String.class))
			.map((nodes) -> !nodes.isEmpty())
			.orElse(false);
		ConditionMessage.Builder message = ConditionMessage.forCondition("Redlock");
		return present ? ConditionOutcome.match(message.found("property").items(PROPERTY))
				: ConditionOutcome.noMatch(message.didNotFind("property").items(PROPERTY));
	}

}
