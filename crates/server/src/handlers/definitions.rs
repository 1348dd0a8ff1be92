//! Operations on the definitions in the configuration and the folders of a Location.

use opencode_protocol::operations as op;
use opencode_protocol::output::Located;
use opencode_schema::agent::AgentInfo;
use opencode_schema::command::CommandInfo;
use opencode_schema::reference::ReferenceInfo;
use opencode_schema::skill::SkillInfo;

use crate::router::answer::Answered;
use crate::router::operation::Call;
use crate::router::selector::Opened;

pub(crate) async fn agents(call: Call<op::AgentList>) -> Answered<Located<Vec<AgentInfo>>> {
    let opened = Opened::of(&call.runtime, call.selector).await?;
    let agents = opened.location.agents.list().to_vec();
    Ok(opened.with(agents))
}

pub(crate) async fn commands(call: Call<op::CommandList>) -> Answered<Located<Vec<CommandInfo>>> {
    let opened = Opened::of(&call.runtime, call.selector).await?;
    let mut commands = opened.location.commands.list().to_vec();
    let of_servers = call.runtime.mcp_commands(&opened.location).await;
    // A command of the configuration is stronger than a prompt with its name.
    let is_new = |it: &CommandInfo| commands.iter().all(|known| known.name != it.name);
    let of_servers: Vec<_> = of_servers.into_iter().filter(is_new).collect();
    commands.extend(of_servers);
    Ok(opened.with(commands))
}

pub(crate) async fn references(
    call: Call<op::ReferenceList>,
) -> Answered<Located<Vec<ReferenceInfo>>> {
    let opened = Opened::of(&call.runtime, call.selector).await?;
    let references = call.runtime.references(&opened.location);
    Ok(opened.with(references))
}

pub(crate) async fn skills(call: Call<op::SkillList>) -> Answered<Located<Vec<SkillInfo>>> {
    let opened = Opened::of(&call.runtime, call.selector).await?;
    let skills = call.runtime.skills(&opened.location).await;
    Ok(opened.with(skills))
}
