// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.AdviceMode;

import io.github.lockstarter.interceptor.DistributedLockAdvisor;
import io.github.lockstarter.interceptor.LockDefinitionSource;
import io.github.lockstarter.validation.LockDefinitionValidator;

/**
 * Refuses annotated beans if the auto-configuration of the locks does not run: the beans
 * would silently run without their locks. Test slices are exempt: beans with
 * {@code @Transactional} run bare there, too.
 */
class UnlockedBeansInitializer implements ApplicationContextInitializer<ConfigurableApplicationContext> {

	@Override
	public void initialize(ConfigurableApplicationContext context) {
		context.addBeanFactoryPostProcessor((beanFactory) -> {
			if (isTrue(context, "spring.boot.enableautoconfiguration")) {
				check(beanFactory);
			}
		});
	}

	private static boolean isTrue(ConfigurableApplicationContext context, String property) {
		return context.getEnvironment().getProperty(property, Boolean.class, true);
	}

	/** At this point, all bean definitions exist, but no beans. */
	private static void check(ConfigurableListableBeanFactory beanFactory) {
		// The validator of a parent context checks its children when they are refreshed
		if (!has(beanFactory, DistributedLockAdvisor.class) && BeanFactoryUtils
			.beanNamesForTypeIncludingAncestors(beanFactory, LockDefinitionValidator.class, true, false).length == 0) {
			beanFactory.addBeanPostProcessor(
					new LockDefinitionValidator(new LockDefinitionSource(beanFactory), beanFactory, AdviceMode.PROXY));
		}
	}

	private static boolean has(ConfigurableListableBeanFactory beanFactory, Class<?> type) {
		return beanFactory.getBeanNamesForType(type, true, false).length > 0;
	}

}
